"""A push-or-fold chart as one self-contained HTML page: both players' grids, with frequencies and EVs."""

import html

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.holdem.cards.cards import CLASSES
from treeplex.holdem.study.push_fold import PushFold
from treeplex.holdem.study.report.colours import ALL_IN, CALL, FOLD, INK

STYLE = f"""
:root {{ color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif; }}
body {{ margin: 1.5rem; max-width: 90rem; }}
main {{ display: flex; flex-wrap: wrap; gap: 2rem; }}
table {{ border-collapse: separate; border-spacing: 2px; }}
td {{ width: 2.9rem; height: 2.6rem; border-radius: 3px; text-align: center; color: {INK}; font-size: 12px; line-height: 1.2; }}
td b {{ display: block; font-size: 13px; }}
caption {{ text-align: left; font-weight: 600; padding-bottom: .4rem; }}
@media (max-width: 760px) {{
  body {{ margin: .5rem; }}
  table {{ border-spacing: 1px; }}
  td {{ width: 1.6rem; height: 2rem; padding: 0; font-size: 7px; }}
  td b {{ font-size: 10px; }}
}}
"""


def push_fold_page(equilibrium: PushFold) -> str:
    """The HTML page of a push-or-fold equilibrium."""
    ante = f", ante {equilibrium.ante:g} bb" if equilibrium.ante else ""
    title = f"Push or fold, {equilibrium.stack:g} bb{ante}"
    sides = (
        grid(
            f"Small blind: all-in with {100 * equilibrium.pushed:.1f}% of hands",
            "all-in",
            ALL_IN,
            equilibrium.push,
            equilibrium.push_ev,
        ),
        grid(
            f"Big blind: calls with {100 * equilibrium.called:.1f}% of hands",
            "call",
            CALL,
            equilibrium.call,
            equilibrium.call_ev,
        ),
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body><h1>{html.escape(title)}</h1>"
        f"<p>The exact equilibrium over all boards; the small blind wins {equilibrium.value:+.4f} bb/hand. Each cell shows "
        f"the action's frequency and its EV relative to a fold, in bb.</p><main>{''.join(sides)}</main></body></html>\n"
    )


def grid(caption: str, action: str, colour: str, often: Floats, ev: Floats) -> str:
    """One player's grid as an HTML table."""
    cells = [cell(number, action, colour, often, ev) for number in range(len(CLASSES))]
    rows = "".join(f"<tr>{''.join(cells[start : start + 13])}</tr>" for start in range(0, len(cells), 13))
    return f"<table><caption>{html.escape(caption)}</caption>{rows}</table>"


def cell(number: int, action: str, colour: str, often: Floats, ev: Floats) -> str:
    """One class as a table cell, filled from the left in proportion to the action's frequency."""
    part = 100 * float(np.round(often[number], 4))
    fill = f"linear-gradient(90deg,{colour} {part:.0f}%,{FOLD} {part:.0f}%)"
    name, said = CLASSES[number], f"{CLASSES[number]}: {action} {part:.1f}%, {ev[number]:+.3f} bb"
    return f'<td style="background:{fill}" title="{said}"><b>{name}</b>{part:.0f}<br>{ev[number]:+.2f}</td>'
