// The rules of new passwords, for every operation, form and command that sets one.

/** Limits of the length, in characters (code points) of the NFC form. */
export const passwordLength = { min: 12, max: 128 } as const

const range = `${passwordLength.min} to ${passwordLength.max}`

/** The error message of a wrong length, with `{length}` for it; follows the name of the field. */
export const passwordLengthText = `has {length} characters and needs ${range}; a sentence of several words is easy to remember`

/** The help text of a field for a new password. */
export const passwordHint = `${range} characters, such as a sentence of several unrelated words`

/** All rules, for descriptions. */
export const passwordRules =
  `${passwordHint}; no classes of characters are required. Not a common password, not a pattern such as a keyboard row, ` +
  'not based on the e-mail address or the name of the provider, not found in a data breach'
