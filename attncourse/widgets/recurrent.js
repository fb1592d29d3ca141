// One step of a GRU and of an LSTM, with the weights and the gates of PyTorch.

function sigmoid(x) {
  return 1 / (1 + Math.exp(-x));
}

function gruStep(x, state, tensors, name) {
  const given = linear(x, tensors, name, "_ih_l0");
  const past = linear(state, tensors, name, "_hh_l0");
  const width = state.length;
  return state.map((before, i) => {
    const [reset, update] = [i, width + i].map((j) => sigmoid(given[j] + past[j]));
    const fresh = Math.tanh(given[2 * width + i] + reset * past[2 * width + i]);
    return (1 - update) * fresh + update * before;
  });
}

function lstmStep(x, { hidden, cell }, tensors, name) {
  const gates = add(linear(x, tensors, name, "_ih_l0"), linear(hidden, tensors, name, "_hh_l0"));
  const [take, keep, fresh, show] = [0, 1, 2, 3].map((part) =>
    gates.slice(part * cell.length, (part + 1) * cell.length));
  const now = cell.map((before, i) =>
    sigmoid(keep[i]) * before + sigmoid(take[i]) * Math.tanh(fresh[i]));
  return { cell: now, hidden: now.map((value, i) => sigmoid(show[i]) * Math.tanh(value)) };
}
