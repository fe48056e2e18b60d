// Makes validators know the formats of text that people write (contract/src/text.ts). Imported for that by whoever compiles
// schemas with them.
import { findHiddenCharacter, textFormats } from '@pharos/contract/text'
import { Format } from 'typebox/format'

for (const format of textFormats)
  Format.Set(format, (text) => findHiddenCharacter(format, text) === undefined)
