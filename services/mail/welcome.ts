/** What the first `npm start` shows, once: the logins that it made, and how the first message is sent. */

/** Where mail goes, by DELIVERY_MODE. */
export type Outlet =
  /** `domain`: a verified domain to send from. */
  | { mode: 'capture'; domain: string }
  /** `hostname`: MAIL_HOSTNAME, which receivers see. */
  | { mode: 'direct'; hostname: string }
  /** `relay`: host and port of RELAY_URL, without its login. */
  | { mode: 'relay'; relay: string }

/** Everything that the text names. */
export interface Welcome {
  panelUrl: string
  admin: { username: string; password: string }
  smtp: { host: string; port: number; username: string; password: string }
  token: string
  /** Address of the API in the format of Resend. */
  compatUrl: string
  outlet: Outlet
}

/** What users put in place of it: no domain of the trial can send in the modes that deliver. */
const OWN_DOMAIN = 'YOUR-DOMAIN'

/** The text, with a line end. In capture mode its two commands work as they are printed. */
export function welcomeText(welcome: Welcome): string {
  const { panelUrl, admin, smtp, token, compatUrl, outlet } = welcome
  return `
Postwright runs.

  panel   ${panelUrl}
  admin   ${admin.username} / ${admin.password}
  SMTP    ${smtp.host}:${smtp.port} (STARTTLS), ${smtp.username} / ${smtp.password}
  token   ${token}
  Resend  its SDKs work with RESEND_BASE_URL=${compatUrl} and the token

${introduction(outlet, panelUrl)}

${commands(welcome)}

These logins are shown this once. A lost admin password: npm run admin -- reset-password ${admin.username}

`
}

function introduction(outlet: Outlet, panelUrl: string): string {
  if (outlet.mode === 'capture')
    return 'Send the first message. Nothing leaves this machine: it lands in the inbox of the panel.'
  const way =
    outlet.mode === 'relay'
      ? `DELIVERY_MODE is relay: messages leave this machine through ${outlet.relay}.`
      : `DELIVERY_MODE is direct: messages leave this machine for the servers of their recipients, as ${outlet.hostname}.`
  return `${way}
Add a domain of yours at ${panelUrl}/domains and create its DNS records. Once it is verified, put it in place of
${OWN_DOMAIN} and an address of yours in place of you@example.com:`
}

function commands({ panelUrl, smtp, token, outlet }: Welcome): string {
  const from = `hello@${outlet.mode === 'capture' ? outlet.domain : OWN_DOMAIN}`
  const message = JSON.stringify({ from, to: 'you@example.com', subject: 'The first message', text: 'It works.' })
  return `  curl -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '${message}' ${panelUrl}/api/send

  swaks --server ${smtp.host} --port ${smtp.port} --tls --auth PLAIN --auth-user ${smtp.username} --auth-password ${smtp.password} --from ${from} --to you@example.com --header 'Subject: The second message'`
}
