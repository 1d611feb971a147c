import { betterAuth } from 'better-auth'
import { magicLink } from 'better-auth/plugins'
import { Resend } from 'resend'

const resend = new Resend({{token}}, { baseUrl: {{resendUrl}} })

export const auth = betterAuth({
  plugins: [
    magicLink({
      sendMagicLink: async ({ email, url }) => {
        const { error } = await resend.emails.send({
          from: {{from}},
          to: email,
          subject: 'Sign in',
          text: url,
        })
        if (error) throw new Error(error.message)
      },
    }),
  ],
})
