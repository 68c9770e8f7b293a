#include "report/style.h"

#include <fmt/format.h>

#include "report/palette.h"

namespace agora::report {
namespace {

std::string series_variables(bool dark) {
  std::string result;
  for (int i = 0; i < kSeriesColours; ++i) {
    const Rgb rgb = series_colour(i, dark);
    result += fmt::format("--s{}:{};--b{}:rgba({},{},{},{});", i, hex(rgb), i, rgb[0], rgb[1],
                          rgb[2], dark ? 0.26 : 0.18);
  }
  return result;
}

constexpr const char* kLight =
    "--ink:#1f2430;--muted:#5a6372;--paper:#f6f7f9;--card:#ffffff;--line:#e1e5eb;--grid:#e3e7ed;"
    "--axis:#9aa3b0;--shade:#0003;--link:#005f9e;--tint:#f0f4fa;--published:#7a5c00;"
    "--pass:#0a6b4d;--pass-bg:#dcf3ea;--looser:#1d5a86;--looser-bg:#dfeefa;--fail:#a3260f;--fail-"
    "bg:#fde5df;"
    "--missing:#6b5a12;--missing-bg:#f8efcf;";
constexpr const char* kDark =
    "--ink:#e6e9ee;--muted:#a9b1bd;--paper:#101319;--card:#171a21;--line:#2b313b;--grid:#333a45;"
    "--axis:#6f7886;--shade:#000b;--link:#7dc0f5;--tint:#1e242e;--published:#e3c878;"
    "--pass:#6fdcb5;--pass-bg:#12372b;--looser:#8fc9f2;--looser-bg:#15324a;--fail:#ff9d86;--fail-"
    "bg:#44201a;"
    "--missing:#e6cf7a;--missing-bg:#38320f;";

constexpr const char* kRules = R"css(
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0 auto;max-width:1240px;padding:32px 28px 64px;background:var(--paper);color:var(--ink);
font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif}
body.short{max-width:960px}
body.long{display:grid;grid-template-columns:250px minmax(0,1fr);column-gap:36px;align-items:start}
header{grid-column:1/-1;margin-bottom:20px;padding-bottom:16px;border-bottom:1px solid var(--line)}
h1{font-size:2rem;line-height:1.2;margin:0 0 4px;letter-spacing:-.02em;text-wrap:balance}
h2{font-size:1.4rem;line-height:1.3;margin:0 0 12px;letter-spacing:-.01em}
h3{font-size:1.12rem;line-height:1.35;margin:0 0 10px}
h1,h2,h3,p,li,td,th,dd{overflow-wrap:anywhere}
h2 a,h3 a{color:inherit;text-decoration:none}h2 a:hover,h3 a:hover{text-decoration:underline}
h2 .badge,h3 .badge{margin-left:10px;vertical-align:middle;font-size:.8rem}
.subtitle{margin:0;color:var(--muted)}
main{min-width:0}main>p{max-width:70ch}
section{margin:0 0 22px;padding:22px 24px;background:var(--card);border:1px solid var(--line);
border-radius:12px;scroll-margin-top:16px}
section>p{max-width:70ch;margin:0 0 14px}
section>:last-child{margin-bottom:0}
a{color:var(--link)}
.title{font-weight:600;margin:0 0 6px}
.caption,figcaption{color:var(--muted);font-size:.88rem;line-height:1.5;margin:6px 0 0}
.note{color:var(--muted);font-size:.9rem}
.toc{position:sticky;top:20px;max-height:calc(100vh - 40px);overflow-y:auto;font-size:.9rem}
.toc p{margin:0 0 6px;font-weight:600}.toc ul{list-style:none;margin:0;padding:0}
.toc li{display:flex;align-items:baseline;gap:8px;padding:3px 0;line-height:1.4}
.toc li.level2{padding-left:14px}
.toc a{flex:1;min-width:0;color:var(--muted);text-decoration:none}
.toc a:hover{color:var(--link);text-decoration:underline}
.dot{flex:none;width:9px;height:9px;border-radius:50%}
.dot.pass{background:var(--s2)}.dot.looser{background:var(--looser)}
.dot.fail{background:var(--fail)}
.dot.missing{border:2px solid var(--missing)}
.badge{display:inline-block;padding:1px 10px;border-radius:99px;font-size:.82rem;font-weight:600;
line-height:1.6;white-space:nowrap;background:var(--tint);color:var(--muted)}
.badge.pass{background:var(--pass-bg);color:var(--pass)}
.badge.looser{background:var(--looser-bg);color:var(--looser)}
.badge.fail{background:var(--fail-bg);color:var(--fail)}
.badge.missing{background:var(--missing-bg);color:var(--missing)}
.badges{display:flex;flex-wrap:wrap;gap:8px;margin:0 0 16px}
.badges .badge{font-size:.95rem;padding:3px 14px;white-space:normal}
.table{margin:0 0 20px}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:8px;
background:linear-gradient(90deg,var(--card) 30%,transparent) 0 0/36px 100% local,
linear-gradient(270deg,var(--card) 30%,transparent) 100% 0/36px 100% local,
linear-gradient(90deg,var(--shade),transparent) 0 0/14px 100% scroll,
linear-gradient(270deg,var(--shade),transparent) 100% 0/14px 100% scroll,var(--card);
background-repeat:no-repeat}
table{border-collapse:collapse;width:100%;font-size:.92rem;line-height:1.45}
th,td{padding:7px 12px;text-align:left;vertical-align:top;overflow-wrap:normal}
th{font-weight:600;color:var(--muted);border-bottom:1px solid var(--line);
vertical-align:bottom}
tbody tr+tr td{border-top:1px solid var(--line)}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
th.number{white-space:normal}
td.published{color:var(--published)}
.charts{display:grid;gap:20px;margin:0 0 20px}
.charts.many{grid-template-columns:repeat(auto-fit,minmax(min(100%,380px),1fr))}
.charts.one figure{max-width:580px}
figure{margin:0;min-width:0}
.static .agora-chart{display:block;width:100%;height:auto}
.drawn .static{display:none}
.code{margin:0 0 16px;border:1px solid var(--line);border-radius:8px;background:var(--tint);
overflow:hidden}
.code p{display:flex;justify-content:space-between;align-items:center;min-height:30px;margin:0;
padding:2px 6px 0 14px;font-size:.8rem;color:var(--muted)}
.code pre{margin:0;padding:2px 14px 10px;white-space:pre-wrap;overflow-wrap:anywhere;
font:13.5px/1.55 ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
.code button{font:inherit;color:var(--link);background:none;border:0;border-radius:6px;
padding:3px 9px;cursor:pointer}
.code button:hover{background:var(--line)}
.facts{display:flex;flex-wrap:wrap;gap:8px 28px;margin:0 0 16px}
.facts dt{font-size:.8rem;color:var(--muted)}
.facts dd{margin:0;font-variant-numeric:tabular-nums}
@media(max-width:1000px){body.long{display:block}
.toc{position:static;max-height:40vh;margin-bottom:22px;padding:14px 18px;background:var(--card);
border:1px solid var(--line);border-radius:12px}}
@media(max-width:560px){body{padding:18px 12px 40px;font-size:15.5px}h1{font-size:1.55rem}
section{padding:16px 12px}table{font-size:.82rem}th,td{padding:6px 7px}
.verdict{position:sticky;right:0;min-width:108px;padding-left:5px;padding-right:5px;
background:var(--card);box-shadow:-6px 0 6px -6px var(--shade)}
.verdict .badge{padding:1px 6px;border-radius:10px;white-space:normal;font-size:.72rem;
line-height:1.3}}
@media print{body,body.long{display:block;max-width:none;padding:0;background:none;font-size:11pt}
.toc,.code button,.interactive,.note{display:none}.drawn .static{display:block}
section{border:0;padding:0}figure,.table,.code{break-inside:avoid}h2,h3{break-after:avoid}
.scroll{overflow:visible}.charts.many{grid-template-columns:1fr 1fr}}
)css";

}  // namespace

std::string page_style() {
  return fmt::format(
             ":root{{color-scheme:light dark;{}{}}}"
             "@media screen and (prefers-color-scheme:dark){{:root{{{}{}}}}}",
             kLight, series_variables(false), kDark, series_variables(true)) +
         kRules;
}

std::string page_script() {
  return R"js(
for (const block of document.querySelectorAll(".code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.onclick = async () => {
    const code = block.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      getSelection().selectAllChildren(code);
      document.execCommand("copy");
      getSelection().removeAllRanges();
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
  block.querySelector("p").append(button);
}
)js";
}

std::string interactive_script() {
  return R"js(
(() => {
  if (!window.Plotly) return;
  const figures = JSON.parse(document.getElementById("agora-figures").textContent);
  // "var(--s0)" under a key that names a colour becomes the page's colour of the moment.
  const resolve = (node, key) => {
    if (typeof node === "string") {
      const name = /color$/i.test(key) && /^var\((--[a-z0-9]+)\)$/.exec(node);
      return name ? getComputedStyle(document.documentElement).getPropertyValue(name[1]).trim() : node;
    }
    if (Array.isArray(node))
      return node.length && typeof node[0] === "object" ? node.map(item => resolve(item, key)) : node;
    if (node && typeof node === "object")
      return Object.fromEntries(Object.entries(node).map(([k, v]) => [k, resolve(v, k)]));
    return node;
  };
  const options = {responsive: true, displayModeBar: false};
  const touch = matchMedia("(pointer: coarse)").matches;
  const drawn = new Map();
  const draw = (picture) => {
    let target = drawn.get(picture);
    if (!target) {
      target = document.createElement("div");
      target.className = "interactive";
      picture.append(target);
      picture.classList.add("drawn");
      drawn.set(picture, target);
    }
    const figure = resolve(figures[picture.dataset.figure], "");
    const layout = figure.layout;
    layout.font.family = getComputedStyle(document.body).fontFamily;
    layout.height = Math.min(layout.height, Math.max(260, 0.95 * picture.clientWidth));
    if (touch) layout.dragmode = false;  // a finger scrolls the page
    Plotly.react(target, figure.data, layout, options);
  };
  const observer = new IntersectionObserver(entries => {
    for (const entry of entries)
      if (entry.isIntersecting) {
        observer.unobserve(entry.target);
        draw(entry.target);
      }
  }, {rootMargin: "600px"});
  for (const picture of document.querySelectorAll("[data-figure]")) observer.observe(picture);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const picture of drawn.keys()) draw(picture);
  });
})();
)js";
}

}  // namespace agora::report
