// The report of an import before it is applied: errors with their lines, what would change, and every line that is not applied.
import { Button, Stack, Table, Text } from '@mantine/core'
import type { ImportResult } from '@pharos/contract/dns/import'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'
import type { LineError } from './import-errors.ts'
import { Plan } from './plan.tsx'
import { words } from './words.ts'
import classes from './zones.module.css'

const { import: texts } = words

export function ImportErrors({ errors }: { errors: readonly LineError[] }) {
  return (
    <Section
      title={texts.report}
      note={<StatePill color="bad">{texts.errors(errors.length)}</StatePill>}
      flush
    >
      <Text size="sm" c="dimmed" px="md" pb="xs">
        {texts.errorsText}
      </Text>
      <Lines
        label={texts.errors(errors.length)}
        head={texts.problem}
        rows={errors.map(({ line, message, text }) => ({ line, reason: message, text }))}
      />
    </Section>
  )
}

type ReportProps = { result: ImportResult; action: string; isPending: boolean; onApply: () => void }

export function ImportReport({ result, action, isPending, onApply }: ReportProps) {
  const { ignored } = result
  return (
    <Section
      title={texts.report}
      note={<StatePill color="ok">{texts.ready}</StatePill>}
      actions={
        <Button loading={isPending} onClick={onApply}>
          {action}
        </Button>
      }
    >
      <Stack>
        <Plan changes={result} />
        {ignored.length > 0 && (
          <div>
            <Text size="sm" fw={600}>
              {texts.ignored(ignored.length)}
            </Text>
            <Text size="sm" c="dimmed">
              {texts.ignoredText}
            </Text>
            <Lines
              label={texts.ignored(ignored.length)}
              head={texts.reason}
              rows={ignored.map(({ line, reason, text }) => ({ line, reason: texts.reasons[reason], text }))}
            />
          </div>
        )}
      </Stack>
    </Section>
  )
}

type LinesProps = {
  readonly label: string
  readonly head: string
  readonly rows: readonly { readonly line: number; readonly reason: string; readonly text: string }[]
}

const Lines = ({ label, head, rows }: LinesProps) => (
  <Table.ScrollContainer minWidth={480} maxHeight={360}>
    <Table aria-label={label}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w={70} ta="right">
            {texts.line}
          </Table.Th>
          <Table.Th>{head}</Table.Th>
          <Table.Th>{texts.recordText}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map(({ line, reason, text }, at) => (
          <Table.Tr key={`${at} ${line}`}>
            <Table.Td ta="right" className={classes['mono']!}>
              {/* A record of a transfer has no line. */}
              {line === 0 ? '–' : line}
            </Table.Td>
            <Table.Td>{reason}</Table.Td>
            <Table.Td className={classes['mono']!} data-verbatim>
              {text}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)
