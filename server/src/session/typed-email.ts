// The address that somebody types to be found by, in the spelling that accounts have. What is no address stays as it was
// typed: it finds nobody, and is counted like any other.
import { parseEmail } from '../text/email.ts'

export const typedEmail = (text: string): string => parseEmail(text) ?? text
