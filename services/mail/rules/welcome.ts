/** What the first `npm start` shows, once: the logins it made, and two commands that work as they stand. */

/** Everything that the text names. */
export interface Welcome {
  panelUrl: string
  admin: { username: string; password: string }
  smtp: { host: string; port: number; username: string; password: string }
  token: string
  /** A verified domain to send from. */
  domain: string
}

/** The text, with a line end. */
export function welcomeText({ panelUrl, admin, smtp, token, domain }: Welcome): string {
  const message = JSON.stringify({
    from: `hello@${domain}`,
    to: 'you@example.com',
    subject: 'The first message',
    text: 'It works.',
  })
  return `
Postwright runs.

  panel   ${panelUrl}
  admin   ${admin.username} / ${admin.password}
  SMTP    ${smtp.host}:${smtp.port} (STARTTLS), ${smtp.username} / ${smtp.password}
  token   ${token}

Send the first message. Nothing leaves this machine: it lands in the inbox of the panel.

  curl -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '${message}' ${panelUrl}/api/send

  swaks --server ${smtp.host} --port ${smtp.port} --tls --auth PLAIN --auth-user ${smtp.username} --auth-password ${smtp.password} --from hello@${domain} --to you@example.com --header 'Subject: The second message'

These logins are shown this once. A lost admin password: npm run admin -- reset-password ${admin.username}

`
}
