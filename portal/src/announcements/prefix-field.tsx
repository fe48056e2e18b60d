// The prefixes to add: one, or several with one per line. Below are the server's errors, with the prefix that was probably meant.
import { Button, Group, Text, Textarea } from '@mantine/core'
import { announcementsAtOnce } from '@pharos/contract/byoip/announcement'
import { ProblemError } from '@pharos/contract/client'
import type { Fields } from '../ui/form.tsx'
import { correctPrefixes, prefixesOf, prefixMistakes, type Draft } from './draft.ts'
import { words } from './words.ts'

const { add: texts } = words

/** Mistakes listed in full; further ones are counted. */
const shownMistakes = 3

/** `error`: of the whole request; it contains the corrections beside the messages. */
export function PrefixField({ fields, error }: { fields: Fields<Draft>; error: unknown }) {
  const draft = fields.values
  const mistakes = error instanceof ProblemError ? prefixMistakes(draft, error.problem.errors ?? []) : []
  const corrections = mistakes.filter(({ canonical }) => canonical !== undefined)
  const several = prefixesOf(draft).length > 1
  const shown = mistakes
    .slice(0, shownMistakes)
    .map(({ prefix, msg }) => (several ? `${prefix}: ${msg}` : msg))
  const more = mistakes.length - shown.length
  const correct = (chosen: typeof corrections) => fields.setFieldValue('cidr', correctPrefixes(draft, chosen))
  return (
    <>
      <Textarea
        label={texts.prefix}
        description={texts.prefixHelp(announcementsAtOnce)}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        withAsterisk={false}
        required
        data-search
        autosize
        minRows={1}
        maxRows={12}
        {...fields.getInputProps('cidr')}
        error={
          shown.length > 0
            ? [...shown, ...(more > 0 ? [texts.more(more)] : [])].join('; ')
            : fields.errors['cidr']
        }
      />
      {corrections.length > 0 && (
        <Group gap="xs">
          <Text size="sm">{texts.meant}</Text>
          {corrections.slice(0, shownMistakes).map((one) => (
            <Button key={one.index} variant="light" onClick={() => correct([one])}>
              {one.canonical}
            </Button>
          ))}
          {corrections.length > 1 && (
            <Button variant="subtle" onClick={() => correct(corrections)}>
              {texts.correctAll(corrections.length)}
            </Button>
          )}
        </Group>
      )}
    </>
  )
}
