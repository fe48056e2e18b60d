// Which prefixes are brought: one, or several with one on each line. What the server finds wrong of each stands below,
// with what was probably meant.
import { Button, Group, Text, Textarea } from '@mantine/core'
import { announcementsAtOnce } from '@pharos/contract/byoip'
import { ProblemError } from '@pharos/contract/client'
import { correctPrefixes, prefixesOf, prefixMistakes, type Draft } from './new-draft.ts'

type FieldProps = { draft: Draft; set: (change: Partial<Draft>) => void; error: unknown }

/** So many mistakes are said at the field; more of them are told together. */
const saidMax = 3

export function PrefixField({ draft, set, error }: FieldProps) {
  const mistakes = error instanceof ProblemError ? prefixMistakes(draft, error.problem.errors ?? []) : []
  const corrections = mistakes.filter(({ canonical }) => canonical !== undefined)
  const several = prefixesOf(draft).length > 1
  const said = mistakes.slice(0, saidMax).map(({ prefix, msg }) => (several ? `${prefix}: ${msg}` : msg))
  const unsaid = mistakes.length - said.length
  return (
    <>
      <Textarea
        label="Prefix"
        description={`such as 203.0.113.0/24 or 2001:db8::/32; several with one on each line, at most ${announcementsAtOnce}`}
        required
        data-search
        autosize
        minRows={1}
        maxRows={12}
        value={draft.cidr}
        error={
          said.length > 0 ? [...said, ...(unsaid > 0 ? [`and ${unsaid} more`] : [])].join('; ') : undefined
        }
        onChange={(event) => set({ cidr: event.currentTarget.value })}
      />
      {corrections.length > 0 && (
        <Group gap="xs">
          <Text size="sm">Did you mean</Text>
          {corrections.slice(0, saidMax).map((one) => (
            <Button
              key={one.index}
              variant="light"
              onClick={() => set({ cidr: correctPrefixes(draft, [one]) })}
            >
              {one.canonical}
            </Button>
          ))}
          {corrections.length > 1 && (
            <Button variant="subtle" onClick={() => set({ cidr: correctPrefixes(draft, corrections) })}>
              Correct all {corrections.length}
            </Button>
          )}
        </Group>
      )}
    </>
  )
}
