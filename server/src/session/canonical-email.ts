// An address as entered by a user, in the spelling of the accounts. Text that is not an address is returned unchanged: it
// matches no account, and attempts with it are counted like any other.
import { parseEmail } from '../text/email.ts'

export const canonicalEmail = (text: string): string => parseEmail(text) ?? text
