// The passwords that many people have, as the project zxcvbn-ts collects them: 49,233, in lower case; and the one that we
// publish ourselves. Unpacked when the first password is chosen, which takes about 20 ms.
import { createRequire } from 'node:module'
import { publishedPassword } from './demo.ts'

let common: ReadonlySet<string> | undefined

/** Whether the text, in lower case, is one of them. */
export function isCommonPassword(text: string): boolean {
  common ??= new Set([...load(), publishedPassword])
  return common.has(text)
}

function load(): readonly string[] {
  const require = createRequire(import.meta.url)
  const { dictionary } = require('@zxcvbn-ts/language-common') as typeof import('@zxcvbn-ts/language-common')
  return dictionary['passwords-common']
}
