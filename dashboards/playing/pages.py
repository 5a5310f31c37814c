"""The two pages, whole: no file, font or script of anybody else is loaded."""

from __future__ import annotations

from typing import Final

__all__ = ["OPENING", "SEAT"]

_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
label { display: block; margin: .75rem 0; }
select, input, textarea, button { font: inherit; padding: .4rem .6rem; }
textarea { width: 100%; box-sizing: border-box; font-family: ui-monospace, monospace; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: 14px/1.45 ui-monospace, monospace; }
pre { border-left: 3px solid #8888; padding-left: 1rem; }
details { margin: 1rem 0; }
.phrases button { margin: 0 .4rem .4rem 0; font-family: ui-monospace, monospace; font-size: .85rem; }
"""

OPENING: Final = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Play · cotrace</title><style>{_STYLE}</style></head>
<body><main>
<h1>Play</h1>
<p>Choose a game and who sits where. Every person gets a page of their own: send each the link of their seat, and no other.</p>
<form id="form">
<label>Game <select id="game"></select></label>
<div id="seats"></div>
<label>Number of the game <input id="number" type="number" value="1" min="0"></label>
<button>Begin</button>
</form>
<p id="told" role="status"></p><ul id="links"></ul>
</main><script>
const byId = (id) => document.getElementById(id);
let games = [];
const show = () => {{
  const game = games.find((one) => one.game === byId('game').value);
  byId('seats').replaceChildren(...Object.entries(game.seats).map(([seat, players], place) => {{
    const label = document.createElement('label'), select = document.createElement('select');
    label.append(seat + ' ', select);
    select.dataset.seat = seat;
    players.forEach((player) => select.add(new Option(player, player)));
    if (place > 0 && players.length > 1) select.selectedIndex = 1;
    return label;
  }}));
}};
byId('game').addEventListener('change', show);
byId('form').addEventListener('submit', async (event) => {{
  event.preventDefault();
  const players = Object.fromEntries([...document.querySelectorAll('[data-seat]')].map((one) => [one.dataset.seat, one.value]));
  const body = JSON.stringify({{game: byId('game').value, players, number: Number(byId('number').value)}});
  const reply = await fetch('/open', {{method: 'POST', body}}), found = await reply.json();
  byId('told').textContent = reply.ok ? (found.length ? 'The game has begun.' : 'Nobody sits here: the game is played.') : found.error;
  byId('links').replaceChildren(...(reply.ok ? found : []).map((one) => {{
    const item = document.createElement('li'), link = document.createElement('a');
    link.href = one.href; link.textContent = 'Seat of ' + one.agent; link.target = '_blank'; item.append(link);
    return item;
  }}));
}});
fetch('/games').then((reply) => reply.json()).then((found) => {{
  games = found;
  found.forEach((one) => byId('game').add(new Option(one.title, one.game)));
  show();
}});
</script></body></html>
"""

SEAT: Final = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Your seat · cotrace</title><style>{_STYLE}</style></head>
<body><main>
<h1 id="who">Your seat</h1>
<p id="told" role="status">Waiting.</p>
<details id="rules"><summary>What you were told</summary><pre id="system"></pre></details>
<pre id="situation" aria-label="What you see"></pre>
<form id="form" hidden>
<div class="phrases" id="phrases"></div>
<label>Your answer <textarea id="text" rows="4" required></textarea></label>
<button>Send</button>
</form>
</main><script>
const byId = (id) => document.getElementById(id);
let number = null;
const look = async () => {{
  const state = await (await fetch(location.pathname + '/state')).json();
  byId('who').textContent = state.agent + ' (' + state.role + ')';
  const asked = state.asked;
  byId('form').hidden = !asked;
  if (asked && asked.number !== number) {{
    number = asked.number;
    const of = (rules) => asked.messages.filter((one) => (one.role === 'system') === rules).map((one) => one.content).join('\\n\\n');
    byId('system').textContent = of(true);
    byId('rules').open = asked.number === 1;
    byId('situation').textContent = of(false);
    byId('phrases').replaceChildren(...state.phrases.map((phrase) => {{
      const button = document.createElement('button');
      button.type = 'button'; button.textContent = phrase;
      button.addEventListener('click', () => {{ byId('text').value = phrase; byId('text').focus(); }});
      return button;
    }}));
    byId('told').textContent = 'Turn ' + asked.turn + ': it is for you to answer.';
  }} else if (!asked) {{
    byId('told').textContent = state.error || (state.ended ? 'The game is over: '
      + (state.ended.success ? 'the goal was reached' : 'the goal was not reached')
      + ' after ' + state.ended.turns_taken + ' turns.' : 'The others are playing.');
  }}
  if (!state.ended && !state.error) setTimeout(look, 700);
}};
byId('form').addEventListener('submit', async (event) => {{
  event.preventDefault();
  await fetch(location.pathname + '/say', {{method: 'POST', body: JSON.stringify({{number, text: byId('text').value}})}});
  byId('text').value = '';
  byId('form').hidden = true;
}});
look();
</script></body></html>
"""
