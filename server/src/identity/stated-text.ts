// Text that an identity provider states, for names that others read.

/** One line without control and format characters; empty for anything but text. */
export const textForPeople = (value: unknown): string =>
  typeof value === 'string'
    ? value
        .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
        .trim()
        .slice(0, 100)
    : ''

/** Names of claims for the list of failed sign-ins. */
export const printableNames = (names: readonly string[]): readonly string[] =>
  names.filter((name) => /^[\x21-\x7e]{1,100}$/.test(name)).slice(0, 100)
