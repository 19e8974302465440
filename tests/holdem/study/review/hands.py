"""Hand histories as PokerStars and GGPoker write them."""

STARS = """\
PokerStars Hand #240123456789:  Hold'em No Limit ($0.50/$1.00 USD) - 2023/01/14 12:30:00 ET
Table 'Aludra' 6-max Seat #3 is the button
Seat 1: Alice ($100 in chips)
Seat 2: Bob, the (1st) ($112.50 in chips)
Seat 3: Hero ($100 in chips)
Seat 4: Carl: x ($87 in chips)
Seat 5: Dora ($1,140.25 in chips)
Seat 6: Eve ($60 in chips) is sitting out
Carl: x: posts small blind $0.50
Dora: posts big blind $1
*** HOLE CARDS ***
Dealt to Hero [As Qd]
Alice: folds
Bob, the (1st): folds
Hero: raises $1.50 to $2.50
Carl: x: folds
Dora said, "folds"
Dora: calls $1.50
*** FLOP *** [Td 9d 6h]
Dora: checks
Hero: bets $2.75
Dora: calls $2.75
*** TURN *** [Td 9d 6h] [Qc]
Dora: checks
Hero: bets $8
Dora: raises $16 to $24
Hero: calls $16
*** RIVER *** [Td 9d 6h Qc] [2s]
Dora: bets $70.75 and is all-in
Hero: folds
Uncalled bet ($70.75) returned to Dora
Dora collected $57 from pot
Dora: doesn't show hand
*** SUMMARY ***
Total pot $59.50 | Rake $2.50
Board [Td 9d 6h Qc 2s]
Seat 3: Hero (button) folded on the River
Seat 5: Dora (big blind) collected ($57)
"""

GG = """\
Poker Hand #RC1234567: Hold'em No Limit ($0.05/$0.1) - 2022/08/01 10:30:00
Table 'RushAndCash123' 6-max Seat #1 is the button
Seat 1: 2b2a7a9b ($10 in chips)
Seat 2: Hero ($10.5 in chips)
2b2a7a9b: posts small blind $0.05
Hero: posts big blind $0.1
*** HOLE CARDS ***
Dealt to 2b2a7a9b
Dealt to Hero [Ah Kd]
2b2a7a9b: raises $0.15 to $0.25
Hero: raises $0.75 to $1
2b2a7a9b: calls $0.75
*** FLOP *** [2h 3d 4s]
Hero: bets $9.5 and is all-in
2b2a7a9b: calls $9 and is all-in
Uncalled bet ($0.5) returned to Hero
2b2a7a9b: shows [Ac Ad] (a pair of Aces)
Hero: shows [Ah Kd] (high card Ace)
*** FIRST TURN *** [2h 3d 4s] [5c]
*** FIRST RIVER *** [2h 3d 4s 5c] [9h]
*** SECOND TURN *** [2h 3d 4s] [Kc]
*** SECOND RIVER *** [2h 3d 4s Kc] [Kh]
*** SHOWDOWN ***
2b2a7a9b collected $20 from pot
*** SUMMARY ***
Total pot $20 | Rake $0 | Jackpot $0
Seat 1: 2b2a7a9b (button) showed [Ac Ad] and won ($20)
Seat 2: Hero (big blind) showed [Ah Kd] and lost
"""
