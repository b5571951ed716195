"use strict";
/* Requests to the server that the page came from. */

/** What a request is answered with; where it is refused, an error with the server's sentence is thrown. */
async function answered(request) {
  let response;
  try {
    response = await request;
  } catch (fault) {
    throw new Error(`the server does not answer (${fault.message}): is it still running?`);
  }
  const said = await response.json();
  if (!response.ok) throw new Error(said.error);
  return said;
}

function get(path, parameters = {}) {
  const query = new URLSearchParams(parameters).toString();
  return answered(fetch(query ? `${path}?${query}` : path));
}

function post(path, parameters = {}) {
  const headers = { "Content-Type": "application/json" };
  return answered(fetch(path, { method: "POST", headers, body: JSON.stringify(parameters) }));
}
