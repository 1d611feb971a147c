import nodemailer from 'nodemailer'

const transport = nodemailer.createTransport({
  host: {{host}},
  port: {{port:raw}},
  requireTLS: true,
  auth: { user: {{user}}, pass: {{password}} },
})

const info = await transport.sendMail({
  from: {{from}},
  to: {{to}},
  subject: 'Hello from Postwright',
  text: 'It works.',
})
console.log(info.response)
