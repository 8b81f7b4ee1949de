"""The style sheet of the trace page: light and dark, no fonts or images from elsewhere."""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
:root {
  color-scheme: light dark;
  --page: #f6f5f2; --card: #ffffff; --ink: #1d2127; --soft: #5c6470; --faint: #8b929d; --line: #e3e1db;
  --sunken: #f5f4f0; --accent: #b8860b; --model: #7367c7; --workflow: #c98a12; --mcp: #1b8a7a; --other: #6b7684;
  --good: #1f7a4d; --good-back: #e6f4ec; --bad: #b3261e; --bad-back: #fcebe9; --string: #1b6e5f; --number: #8a4b08;
  --shadow: 0 1px 2px rgb(20 20 30 / 5%), 0 4px 16px rgb(20 20 30 / 4%);
  --mono: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14161a; --card: #1d2025; --ink: #e8e8e6; --soft: #a9b0ba; --faint: #7d8590; --line: #30343b;
    --sunken: #17191d; --accent: #f0c14b; --model: #9d92f0; --workflow: #eab54a; --mcp: #45c2ae; --other: #94a0ae;
    --good: #6fd39b; --good-back: #17301f; --bad: #ff8f86; --bad-back: #3a1c1a; --string: #7fd6c2; --number: #f0b36b;
    --shadow: none;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif;
}
main { max-width: 60rem; margin: 0 auto; padding: 2.25rem 1.25rem 3rem; }
h1, h2, h3, p, dl, dd, ol, ul { margin: 0; padding: 0; }
ol, ul { list-style: none; }
h2 {
  font-size: .78rem; font-weight: 650; letter-spacing: .08em; text-transform: uppercase; color: var(--faint);
  margin: 2.25rem 0 .75rem;
}
.eyebrow { display: flex; gap: .6rem; align-items: center; color: var(--soft); font-size: .85rem; }
.eyebrow .title { font-weight: 600; }
h1 { font-size: 1.65rem; line-height: 1.28; font-weight: 650; letter-spacing: -.012em; margin: .55rem 0 1.3rem;
  overflow-wrap: anywhere; white-space: pre-wrap; }
.badge { border-radius: 99px; padding: .1rem .6rem; font-size: .78rem; font-weight: 600; white-space: nowrap;
  background: var(--good-back); color: var(--good); }
.badge.bad { background: var(--bad-back); color: var(--bad); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)); background: var(--card);
  border: 1px solid var(--line); border-radius: .8rem; overflow: hidden; box-shadow: var(--shadow); }
.facts div { box-shadow: 1px 1px 0 var(--line); padding: .65rem .9rem .75rem; }
.facts dt { color: var(--faint); font-size: .74rem; }
.facts dd { font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: break-word; }
.facts small { color: var(--faint); font-weight: 400; }
.notice { margin-top: 1rem; border-radius: .7rem; padding: .75rem 1rem; background: var(--bad-back); color:
  var(--bad); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .8rem; box-shadow: var(--shadow); }

.timeline { padding: .9rem 1.1rem .8rem; }
.timeline li { display: grid; grid-template-columns: 4.6rem 1fr 4.4rem; gap: .8rem; align-items: center;
  padding: .22rem 0; }
.timeline .label { color: var(--soft); font-size: .82rem; }
.timeline .time { color: var(--soft); font-size: .82rem; text-align: right; font-variant-numeric: tabular-nums; }
.timeline svg { display: block; width: 100%; overflow: visible; }
.lane { fill: var(--sunken); }
.bar-model { fill: var(--model); } .bar-workflow { fill: var(--workflow); } .bar-mcp { fill: var(--mcp); }
.bar-other { fill: var(--other); } .bar-bad { fill: var(--bad); }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; margin-top: .7rem; padding-top: .7rem;
  border-top: 1px solid var(--line); color: var(--soft); font-size: .8rem; }
.legend span { display: inline-flex; gap: .45rem; align-items: center; }
.legend i, .kind { width: .65rem; height: .65rem; border-radius: .2rem; background: var(--other); flex: none; }
.dot-model { background: var(--model) !important; } .dot-workflow { background: var(--workflow) !important; }
.dot-mcp { background: var(--mcp) !important; } .dot-bad { background: var(--bad) !important; }

.talk { display: grid; grid-template-columns: minmax(0, 1fr); gap: .8rem; }
.message { padding: .85rem 1.1rem .95rem; }
.message > header { display: flex; gap: .6rem; align-items: baseline; margin-bottom: .25rem; }
.who { font-weight: 650; font-size: .84rem; }
.when { margin-left: auto; color: var(--faint); font-size: .78rem; font-variant-numeric: tabular-nums; white-space:
  nowrap; }
code { font: .9em var(--mono); background: var(--sunken); border-radius: .3rem; padding: .05rem .3rem; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; }
.quiet { color: var(--soft); }
.who::before { content: ""; display: inline-block; width: .55rem; height: .55rem; border-radius: 50%;
  margin-right: .5rem; background: var(--faint); }
.from-user .who::before { background: var(--accent); } .from-assistant .who::before { background: var(--model); }
.lead { margin: -.3rem 0 1.4rem; font-size: 1.08rem; line-height: 1.6; color: var(--soft); white-space: pre-wrap;
  overflow-wrap: anywhere; max-width: 52rem; }
.from-system { background: none; border-style: dashed; box-shadow: none; }

details > summary { cursor: pointer; list-style: none; }
details > summary::-webkit-details-marker { display: none; }
summary:focus-visible { outline: 2px solid var(--model); outline-offset: 2px; border-radius: .4rem; }
.call { margin-top: .6rem; border: 1px solid var(--line); border-radius: .65rem; overflow: hidden; }
.call[open] .preview { visibility: hidden; }
.call > summary { display: flex; gap: .6rem; align-items: center; padding: .5rem .8rem; background: var(--sunken); }
.call > summary::after, .aside > summary::after { content: ""; width: .42rem; height: .42rem; flex: none; opacity: .55;
  border: solid currentColor; border-width: 0 1.5px 1.5px 0; transform: rotate(45deg) translate(-1px, -1px); }
.call[open] > summary::after, .aside[open] > summary::after { transform: rotate(-135deg) translate(-2px, -2px); }
.call[open] > summary { border-bottom: 1px solid var(--line); }
.tool { font-weight: 600; white-space: nowrap; }
.preview { color: var(--faint); font: .8rem var(--mono); overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
  min-width: 0; flex: 1; }
.call .time { color: var(--soft); font-size: .8rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
.inside { padding: .75rem .9rem .9rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: .8rem; }
.inside h3, .caption { font-size: .74rem; font-weight: 600; color: var(--faint); margin-bottom: .25rem; }
pre { margin: 0; padding: .65rem .8rem; background: var(--sunken); border-radius: .5rem; font: .82rem/1.55 var(--mono);
  white-space: pre-wrap; overflow-wrap: anywhere; max-height: 28rem; overflow: auto; }
.error pre { background: var(--bad-back); color: var(--bad); }
.k { color: var(--model); } .s { color: var(--string); } .n { color: var(--number); }
figure { margin: 0; } figure img { max-width: 100%; max-height: 26rem; border-radius: .5rem; border: 1px solid
  var(--line);
  background: repeating-conic-gradient(var(--sunken) 0 25%, var(--card) 0 50%) 0 0 / 16px 16px; }
.table { border: 1px solid var(--line); border-radius: .55rem; padding: .6rem .8rem .7rem; }
.table .name { font-weight: 600; } .table .size { color: var(--soft); font-size: .84rem; }
.chips { display: flex; flex-wrap: wrap; gap: .3rem; margin-top: .45rem; }
.chips li { background: var(--sunken); border-radius: .35rem; padding: .08rem .5rem; font: .78rem/1.6 var(--mono);
  overflow-wrap: anywhere; }
.chips em { color: var(--faint); font-style: normal; margin-left: .35rem; }
.tables { display: grid; grid-template-columns: minmax(0, 1fr); gap: .5rem; margin-top: .5rem; }
.aside > summary { display: flex; gap: .6rem; align-items: center; color: var(--soft); font-size: .86rem; }
.aside .body { margin-top: .6rem; } .aside + .text { margin-top: .4rem; }
.tag { font-size: .74rem; color: var(--soft); white-space: nowrap; } .tag.bad { font-weight: 600; color: var(--bad); }
footer { margin-top: 2.5rem; color: var(--faint); font-size: .8rem; }
@media (max-width: 34rem) {
  main { padding: 1.4rem .8rem 2rem; } h1 { font-size: 1.3rem; } .preview { display: none; } .tool { flex: 1; }
  .timeline li { grid-template-columns: 3.6rem 1fr 3.6rem; gap: .5rem; }
}
@media print { body { background: none; } .card, .facts { box-shadow: none; } pre { max-height: none; } }
""".strip()
