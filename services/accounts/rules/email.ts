/** Addresses of people with an account. */
import { z } from 'zod'

/** Longest address (RFC 5321 section 4.5.3.1.3). */
const EMAIL_MAX = 254

/** An address, case-folded: providers ignore the case, and people do not remember it. */
export const email = z.string().trim().toLowerCase().max(EMAIL_MAX).meta({ format: 'email' }).pipe(z.email())
