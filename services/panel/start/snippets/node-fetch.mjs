const response = await fetch({{sendUrl}}, {
  method: 'POST',
  headers: {
    authorization: {{bearer}},
    'content-type': 'application/json',
  },
  body: JSON.stringify({
    from: {{from}},
    to: {{to}},
    subject: 'Hello from Postwright',
    text: 'It works.',
  }),
})
console.log(response.status, await response.json())
