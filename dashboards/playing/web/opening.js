const byId = (id) => document.getElementById(id);
let games = [];
const chosen = () => games.find((one) => one.game === byId('game').value && one.kind === byId('kind').value) ?? games.find((one) => one.game === byId('game').value);
const seat = ([name, players], place) => {
  const label = document.createElement('label'), said = document.createElement('span'), select = document.createElement('select');
  label.className = 'field'; said.textContent = name; select.dataset.seat = select.ariaLabel = name;
  players.forEach((player) => select.add(new Option(player === 'human' ? 'a person' : player, player)));
  if (place > 0 && players.length > 1) select.selectedIndex = 1;
  label.append(said, select);
  return label;
};
const seats = () => byId('seats').replaceChildren(...Object.entries(chosen().seats).map(seat));
const kinds = () => {
  const all = games.filter((one) => one.game === byId('game').value);
  byId('kind').replaceChildren(...all.map((one) => new Option(one.kind.replaceAll('_', ' '), one.kind)));
  byId('kinds').hidden = all.length < 2;
  seats();
};
byId('game').addEventListener('change', kinds);
byId('kind').addEventListener('change', seats);
byId('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const players = Object.fromEntries([...document.querySelectorAll('[data-seat]')].map((one) => [one.dataset.seat, one.value]));
  const game = chosen();
  const body = JSON.stringify({game: game.game, kind: game.kind, players, number: Number(byId('number').value)});
  const reply = await fetch('/open', {method: 'POST', body}), found = await reply.json();
  byId('begun').hidden = false;
  byId('told').textContent = reply.ok ? (found.length ? 'Open the links below. A game with a model begins when the first one is opened.' : 'Nobody sits here: the game is played.') : found.error;
  byId('links').replaceChildren(...(reply.ok ? found : []).map((one) => {
    const item = document.createElement('li'), link = document.createElement('a');
    link.href = one.href; link.textContent = 'Seat of ' + one.agent; link.target = '_blank'; item.append(link);
    return item;
  }));
});
fetch('/games').then((reply) => reply.json()).then((found) => {
  games = found;
  new Map(found.map((one) => [one.game, one.title])).forEach((title, game) => byId('game').add(new Option(title, game)));
  kinds();
});
