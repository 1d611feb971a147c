/** Passkeys in the browser; the library that converts between JSON and WebAuthn is loaded at the first use. */
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import { useMutation } from '@tanstack/react-query'
import { call, type Output } from '../api/client.ts'

const library = () => import('@simplewebauthn/browser')

/** True for browsers that know passkeys. */
export function knowsPasskeys(): boolean {
  return typeof window.PublicKeyCredential === 'function'
}

/** True when it was the browser that ended a request: canceled, too late, or no passkey for this address. */
export function isPasskeyRefusal(error: unknown): boolean {
  return (
    error instanceof Error &&
    ['WebAuthnError', 'NotAllowedError', 'AbortError', 'InvalidStateError'].includes(error.name)
  )
}

/** Signs in with a passkey that the user chooses in a dialog of the browser. */
export function usePasskeyLogin(done: (session: Output<'logInOperation'>) => unknown) {
  return useMutation({
    mutationFn: async () => {
      const { startAuthentication } = await library()
      const { options, challenge } = await call('beginPasskeyLogin', {})
      const { id, response } = await startAuthentication({
        optionsJSON: options as unknown as PublicKeyCredentialRequestOptionsJSON,
      })
      return call('completePasskeyLogin', {
        body: {
          ...{ challenge, id, signature: response.signature },
          client_data: response.clientDataJSON,
          authenticator_data: response.authenticatorData,
          user_handle: response.userHandle ?? '',
        },
      })
    },
    onSuccess: session => done(session),
  })
}

/** Makes a passkey in a dialog of the browser and registers it. */
export async function registerPasskey(given: { name: string; current_password: string }): Promise<void> {
  const { startRegistration } = await library()
  const { options, challenge } = await call('startMyPasskey', { body: { current_password: given.current_password } })
  const { id, response } = await startRegistration({
    optionsJSON: options as unknown as PublicKeyCredentialCreationOptionsJSON,
  })
  await call('createMyPasskey', {
    body: {
      ...{ name: given.name, challenge, id },
      client_data: response.clientDataJSON,
      attestation: response.attestationObject,
      transports: response.transports ?? [],
    },
  })
}
