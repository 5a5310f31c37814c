const byId = (id) => document.getElementById(id);
const made = (tag, properties = {}, ...children) => { const found = Object.assign(document.createElement(tag), properties); found.append(...children); return found; };
let number = null, told = false;

// -- forms: slots are filled in, the text follows ---------------------------------------------------

const filled = (text, values) => text.replace(/\$(\$|\w+)/g, (_, name) => (name === '$' ? '$' : values[name]?.() ?? ''));

const input = (slot, changed) => {
  if (slot.choices.length) {
    const select = made('select', {onchange: changed}, ...slot.choices.map((choice) => new Option(choice, choice)));
    select.ariaLabel = slot.label;
    return [select, () => select.value];
  }
  const field = made('input', {type: 'text', oninput: changed, placeholder: slot.default});
  field.ariaLabel = slot.label;
  const value = () => field.value.trim() || slot.default;
  return [field, () => (slot.is_json ? JSON.stringify(value()) : value())];
};

const several = (slot, changed) => {
  const pieces = [], list = made('ol'), line = made('div', {className: 'line'}), inner = made('div', {className: 'line'});
  const kind = made('select', {}, ...slot.pieces.map((piece, place) => new Option(piece.title, place)));
  kind.ariaLabel = slot.label;
  let values = {};
  const show = () => list.replaceChildren(...pieces.map((piece, place) => made('li', {textContent: piece + ' '},
    made('button', {type: 'button', textContent: '✕', title: 'take it out', onclick: () => { pieces.splice(place, 1); show(); changed(); }}))));
  const choose = () => {
    values = {};
    inner.replaceChildren(...slot.pieces[kind.value].slots.map((one) => { const [field, value] = input(one, () => {}); values[one.name] = value; return field; }));
  };
  const add = made('button', {type: 'button', textContent: 'Add', onclick: () => { pieces.push(filled(slot.pieces[kind.value].text, values)); show(); changed(); }});
  kind.onchange = choose; kind.hidden = slot.pieces.length < 2;
  choose();
  line.append(kind, inner, add);
  return [made('div', {className: 'several'}, list, line), () => pieces.join(slot.joined) || slot.default];
};

const take = (form, button) => {
  byId('forms').querySelectorAll('button').forEach((one) => { one.ariaPressed = String(one === button); });
  const values = {}, write = () => { byId('text').value = filled(form.text, values); };
  byId('slots').replaceChildren(...form.slots.map((slot) => {
    const [field, value] = slot.pieces.length ? several(slot, write) : input(slot, write);
    values[slot.name] = value;
    const label = made(slot.pieces.length ? 'div' : 'label', {className: 'field slot' + (slot.choices.length ? '' : ' long')});
    label.append(made('span', {textContent: slot.label}), field);
    return label;
  }));
  write();
};

const offer = (forms) => {
  const buttons = forms.map((form) => { const one = made('button', {type: 'button', textContent: form.title, ariaPressed: 'false'}); one.onclick = () => take(form, one); return one; });
  byId('forms').replaceChildren(...buttons);
  byId('slots').replaceChildren();
  byId('text').value = '';
  if (forms.length && forms.length < 3) take(forms[0], buttons[0]);
};

// -- what the seat sees -----------------------------------------------------------------------------

const see = (asked) => {
  number = asked.number;
  const of = (rules) => asked.messages.filter((one) => (one.role === 'system') === rules).map((one) => one.content).join('\n\n');
  byId('picture').innerHTML = asked.picture;  // escaped where it was made
  byId('system').textContent = of(true);
  byId('situation').textContent = of(false);
  byId('situation').hidden = byId('words-title').hidden = false;
  byId('situation').scrollTop = byId('situation').scrollHeight;
  byId('rules').hidden = !byId('system').textContent;
  byId('rules').open = asked.number === 1 && innerWidth > 900;
  offer(asked.forms);
};

const status = (text, kind) => { byId('told').textContent = text; byId('told').className = 'pill ' + kind; document.title = text + ' · cotrace'; };

const survey = (state) => {
  const form = byId('survey');
  if (told || !state.survey.length) return;
  told = true;
  form.hidden = false;
  form.replaceChildren(made('h2', {textContent: 'How was it?'}), ...state.survey.map((question) => made('fieldset', {}, made('legend', {textContent: question.ask}),
    made('div', {className: 'scale'}, ...question.answers.map((answer) => {
      const radio = made('input', {type: 'radio', name: question.id, value: answer});
      return made('label', {}, radio, ' ' + answer.replaceAll('_', ' '));
    })))), made('button', {className: 'primary', textContent: 'Send'}));
  form.onsubmit = async (event) => {
    event.preventDefault();
    const reply = await fetch(location.pathname + '/survey', {method: 'POST', body: JSON.stringify({answers: Object.fromEntries(new FormData(form))})});
    form.replaceChildren(made('p', {textContent: reply.ok ? 'Thank you. Your answers stand in the log of the game.' : 'Your answers could not be kept.'}));
  };
};

const over = (ended) => `The game is over: the goal was ${ended.success ? '' : 'not '}reached after ${ended.turns_taken} turn${ended.turns_taken === 1 ? '' : 's'}`
  + (ended.score === null ? '.' : `, score ${Math.round(ended.score * 1000) / 1000}.`);

const look = async () => {
  let state;
  try {
    state = await (await fetch(location.pathname + '/state')).json();
  } catch {
    status('The server cannot be reached', 'bad');
    setTimeout(look, 3000);
    return;
  }
  byId('who').textContent = `${state.title}: you are ${state.agent}` + (state.agent.toLowerCase() === state.role ? '' : ` (${state.role})`);
  const asked = state.asked;
  byId('form').hidden = !asked;
  byId('waiting').hidden = Boolean(asked);
  if (asked) {
    if (asked.number !== number) see(asked);
    status(`Turn ${asked.turn}: your turn`, 'good');
  } else if (state.error) {
    status('The game broke off', 'bad');
    byId('waits').textContent = state.error;
  } else if (state.ended) {
    status('The game is over', 'ask');
    byId('waits').textContent = over(state.ended);
    survey(state);
  } else {
    status('The others are playing', 'quiet');
    byId('waits').textContent = number === null ? 'Nobody has asked you yet.' : 'Your answer was sent. The others are playing.';
  }
  if (!state.ended && !state.error) setTimeout(look, 700);
};

byId('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const text = byId('text').value;
  const reply = await fetch(location.pathname + '/say', {method: 'POST', body: JSON.stringify({number, text})});
  if (!reply.ok) return;
  byId('sent').append(made('li', {textContent: text}));
  byId('sent-card').hidden = false;
  byId('form').hidden = true;
  byId('waiting').hidden = false;
});
look();
