import Nodemailer from '@auth/core/providers/nodemailer'

export const email = Nodemailer({
  server: {
    host: {{host}},
    port: {{port:raw}},
    requireTLS: true,
    auth: { user: {{user}}, pass: {{password}} },
  },
  from: {{from}},
})
