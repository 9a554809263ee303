"""The style sheet that travels inside every page."""

from heterodyne.cli.plan.pages.tone import COLOURS

LIGHT = "--page:#ffffff;--ink:#1a1d21;--soft:#555d68;--line:#d4d9e0;--panel:#f4f6f8;--good:#1f6b2a;--bad:#b42323"
DARK = "--page:#14171b;--ink:#e9ecf0;--soft:#a8b0bb;--line:#3a414b;--panel:#1d2126;--good:#7fd08b;--bad:#ff9a92"

RULES = """
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:1.5rem 1.25rem 3rem;background:var(--page);color:var(--ink);
 font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2.2rem 0 .6rem}
p,ul{margin:.5rem 0;max-width:75ch;overflow-wrap:anywhere}
.question,figcaption,caption,footer{color:var(--soft)}
.verdict{font-size:1.15rem;font-weight:600;max-width:none;margin:1rem 0 0;padding:.75rem 1rem;background:var(--panel);
 border-left:5px solid var(--good)}
.verdict.bad{border-left-color:var(--bad)}
.pair{display:grid;grid-template-columns:1fr;gap:1rem 2rem}
@media(min-width:60rem){.pair{grid-template-columns:1fr 1fr}}
figure{margin:.5rem 0;min-width:0}
figcaption{font-size:.9rem;max-width:75ch}
.scroll{overflow-x:auto}
.scroll:focus-visible{outline:2px solid var(--blue);outline-offset:2px}
svg{display:block;width:100%;font:14px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
svg text{fill:var(--ink)}
svg .soft{fill:var(--soft)}
svg .grid{stroke:var(--line);stroke-width:1}
svg .axis{stroke:var(--soft);stroke-width:1}
svg .frontier{fill:none;stroke:var(--ink);stroke-width:1.5;stroke-dasharray:5 3}
svg .target{stroke:var(--bad);stroke-width:1.5}
svg text.target{fill:var(--bad);stroke:none}
svg .leader{stroke:var(--soft);stroke-width:.8}
svg .halo{paint-order:stroke;stroke:var(--page);stroke-width:3px;stroke-linejoin:round}
svg .mark{stroke:var(--page);stroke-width:1}
svg .faint{opacity:.55}
svg .inside{fill:#fff;font-weight:600}
svg .strong{font-weight:600}
.chart{min-width:22rem}
table{border-collapse:collapse;width:100%;font-size:.92rem}
caption{text-align:left;padding:.2rem 0 .4rem;font-size:.9rem}
th,td{text-align:left;padding:.35rem .7rem .35rem 0;border-bottom:1px solid var(--line);vertical-align:middle;
 min-width:5.5rem}
thead th{color:var(--soft);font-weight:600;vertical-align:bottom}
th[title]{text-decoration:underline dotted;text-underline-offset:3px}
tbody th{font-weight:600}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;min-width:0}
tbody th{min-width:9rem}
.long{min-width:14rem}
td svg{min-width:7rem}
.swatch{display:inline-block;width:.8em;height:.8em;margin-right:.5em;border-radius:2px;vertical-align:-.05em;
 print-color-adjust:exact;-webkit-print-color-adjust:exact}
.legend{list-style:none;padding:0;margin:.4rem 0;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;font-size:.9rem;
 max-width:none}
.legend svg{display:inline-block;width:14px;height:14px;margin-right:.4em;vertical-align:-2px}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.75rem;margin:1rem 0}
.facts div{background:var(--panel);padding:.6rem .8rem}
.facts dt{color:var(--soft);font-size:.85rem}
.facts dd{margin:0;font-size:1.05rem;font-weight:600;overflow-wrap:anywhere}
code{font:.9em ui-monospace,"DejaVu Sans Mono",monospace;background:var(--panel);padding:.1em .3em;
 overflow-wrap:anywhere}
footer{margin-top:3rem;border-top:1px solid var(--line);font-size:.92rem}
footer h2{margin-top:1rem}
@media print{body{max-width:none;padding:0;font-size:10pt}section,figure,tr{break-inside:avoid}
 .scroll{overflow:visible}.chart{min-width:0}.pair{grid-template-columns:1fr 1fr}table{font-size:8pt}
 svg{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""


def _style() -> str:
    colours = "".join(f"--{tone}:{colour};" for tone, colour in COLOURS.items())
    fills = "".join(f".{tone}{{fill:var(--{tone});background:var(--{tone})}}" for tone in COLOURS)
    dark = f"@media screen and (prefers-color-scheme:dark){{:root{{{DARK}}}}}"
    return f":root{{color-scheme:light dark;{colours}{LIGHT}}}{dark}{fills}{RULES}"


STYLE = _style()
