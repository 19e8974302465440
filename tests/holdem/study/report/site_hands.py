"""One hand as several sites write it: Dora folds, Ann raises, bets the flop and folds to Ben's bet on the river."""

PARTY = """\
***** Hand History for Game 10234567890 *****
$50 USD NL Texas Hold'em - Sunday, November 01, 12:30:00 EDT 2020
Table Deep Water (Real Money)
Seat 1 is the button
Total number of players : 3/6
Seat 1: Dora ( $60 USD )
Seat 2: Ann ( $50 USD )
Seat 3: Ben ( $1,049.50 USD )
Ann posts small blind [$0.25 USD].
Ben posts big blind [$0.50 USD].
** Dealt Cards **
Dealt to Ann [  Ah Kd ]
Dora folds
Ann raises [$1.25 USD]
Ben calls [$1 USD]
** Dealing Flop ** [ Td, 9d, 6h ]
Ann bets [$2 USD]
Ben calls [$2 USD]
** Dealing Turn ** [ Qc ]
Ann checks
Ben checks
** Dealing River ** [ 2s ]
Ann checks
Ben bets [$4 USD]
Ann folds
Ben does not show cards.
Ben wins $10.65 USD
"""

FULL_TILT = """\
Full Tilt Poker Game #20567890123: Table Elm (6 max) - $0.25/$0.50 - No Limit Hold'em - 12:30:00 ET - 2010/05/04
Seat 1: Dora ($60)
Seat 2: Ann ($50)
Seat 3: Ben ($1,049.50)
Ann posts the small blind of $0.25
Ben posts the big blind of $0.50
The button is in seat #1
*** HOLE CARDS ***
Dealt to Ann [Ah Kd]
Dora folds
Ann raises to $1.50
Ben calls $1
*** FLOP *** [Td 9d 6h]
Ann bets $2
Ben calls $2
*** TURN *** [Td 9d 6h] [Qc]
Ann checks
Ben checks
*** RIVER *** [Td 9d 6h Qc] [2s]
Ann checks
Ben bets $4
Ann folds
Uncalled bet of $4 returned to Ben
Ben mucks
Ben wins the pot ($6.65)
*** SUMMARY ***
Total pot $7 | Rake $0.35
Board: [Td 9d 6h Qc 2s]
"""

ABSOLUTE = """\
Stage #2034567890: Holdem  No Limit $0.50 - 2009-07-01 12:30:00 (ET)
Table: OAK ST (Real Money) Seat #1 is the dealer
Seat 1 - Dora ($60 in chips)
Seat 2 - Ann ($50 in chips)
Seat 3 - Ben ($1,049.50 in chips)
Ann - Posts small blind $0.25
Ben - Posts big blind $0.50
*** POCKET CARDS ***
Dealt to Ann [Ah Kd]
Dora - Folds
Ann - Raises $1.25 to $1.50
Ben - Calls $1
*** FLOP *** [Td 9d 6h]
Ann - Bets $2
Ben - Calls $2
*** TURN *** [Td 9d 6h] [Qc]
Ann - Checks
Ben - Checks
*** RIVER *** [Td 9d 6h Qc] [2s]
Ann - Checks
Ben - Bets $4
Ann - Folds
Ben - returns ($4) : not called
*** SHOW DOWN ***
Ben - Does not show
Ben Collects $6.65 from main pot
*** SUMMARY ***
Total Pot($7) | Rake ($0.35)
Board [Td 9d 6h Qc 2s]
"""

ONGAME = """\
***** History for hand R5-123456789-42 *****
Start hand: Wed Jul 01 12:30:00 EDT 2009
Table: Oak [123456789] (NO_LIMIT TEXAS_HOLDEM $0.25/$0.50, Real money)
User: Ann
Button: seat 1
Players in round: 3
Seat 1: Dora ($60)
Seat 2: Ann ($50)
Seat 3: Ben ($1,049.50)
Ann posts small blind ($0.25)
Ben posts big blind ($0.50)
--- Dealing pocket cards
Dealt to Ann [Ah, Kd]
Dora folds
Ann raises $1.25 to $1.50
Ben calls $1
--- Dealing flop [Td, 9d, 6h]
Ann bets $2
Ben calls $2
--- Dealing turn [Qc]
Ann checks
Ben checks
--- Dealing river [2s]
Ann checks
Ben bets $4
Ann folds
---
Summary:
Main pot: $7 won by Ben ($6.65)
Rake taken: $0.35
Seat 1: Dora ($60), net: $0
Seat 2: Ann ($46.50), net: -$3.50
Seat 3: Ben ($1,052.65), net: +$3.15
***** End of hand R5-123456789-42 *****
"""

IPOKER = """\
<?xml version="1.0" encoding="utf-8"?>
<session sessioncode="123456">
  <general>
    <currency>USD</currency>
    <tablename>Oak</tablename>
  </general>
  <game gamecode="2034567890">
    <general>
      <startdate>2009-07-01 12:30:00</startdate>
      <players>
        <player seat="1" name="Dora" chips="$60" dealer="1" win="$0" bet="$0" />
        <player seat="2" name="Ann" chips="$50" dealer="0" win="$0" bet="$3.50" />
        <player seat="3" name="Ben" chips="$1,049.50" dealer="0" win="$6.65" bet="$3.50" />
      </players>
    </general>
    <round no="0">
      <action no="1" player="Ann" type="1" sum="$0.25" cards="" />
      <action no="2" player="Ben" type="2" sum="$0.50" cards="" />
    </round>
    <round no="1">
      <cards type="Pocket" player="Ann">HA DK</cards>
      <action no="3" player="Dora" type="0" sum="$0" cards="" />
      <action no="4" player="Ann" type="23" sum="$1.50" cards="" />
      <action no="5" player="Ben" type="3" sum="$1" cards="" />
    </round>
    <round no="2">
      <cards type="Flop" player="">D10 D9 H6</cards>
      <action no="6" player="Ann" type="5" sum="$2" cards="" />
      <action no="7" player="Ben" type="3" sum="$2" cards="" />
    </round>
    <round no="3">
      <cards type="Turn" player="">CQ</cards>
      <action no="8" player="Ann" type="4" sum="$0" cards="" />
      <action no="9" player="Ben" type="4" sum="$0" cards="" />
    </round>
    <round no="4">
      <cards type="River" player="">S2</cards>
      <action no="10" player="Ann" type="4" sum="$0" cards="" />
      <action no="11" player="Ben" type="5" sum="$4" cards="" />
      <action no="12" player="Ann" type="0" sum="$0" cards="" />
    </round>
  </game>
</session>
"""

ACPC = """\
# name/game/hands/seed match holdem.nolimit.2p.reverse_blinds.game 2 1
STATE:0:r300c/cr600c/cc/cr1200f:AhKd|8c7c/Td9d6h/Qc/2s:-600|600:Ann|Ben
STATE:1:f:2c7d|AsAd:50|-50:Ben|Ann
"""

SITES = {
    "PartyPoker": PARTY,
    "Full Tilt Poker": FULL_TILT,
    "Absolute Poker": ABSOLUTE,
    "Ongame": ONGAME,
    "iPoker": IPOKER,
}
