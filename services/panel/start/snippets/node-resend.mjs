import { Resend } from 'resend'

const resend = new Resend({{token}}, { baseUrl: {{resendUrl}} })

const { data, error } = await resend.emails.send({
  from: {{from}},
  to: {{to}},
  subject: 'Hello from Postwright',
  text: 'It works.',
})
if (error) throw new Error(error.message)
console.log(data.id)
