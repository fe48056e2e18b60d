// Bulk import of names from pasted lines: previews the effect of each, then applies all in one transaction.
import { Button, Group, Modal, Stack, Table, Text, Textarea } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { ProblemError } from '@pharos/contract/client'
import { ptrRecordsAtOnce, updatePtrRecordsRoute, type PtrResult } from '@pharos/contract/dns/ptr'
import type { ResponseOf } from '@pharos/contract/route'
import { useMutation } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import { call, resultOf } from '../api/call.ts'
import { errorSentence } from '../ui/form-errors.ts'
import { notifySuccess } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { invalidateZones } from '../zones/zone-queries.ts'
import { parseLines, type Line } from './networks.ts'
import { words } from './words.ts'
import classes from './reverse.module.css'

const { batch: texts } = words

type Answer = ResponseOf<typeof updatePtrRecordsRoute>
const bodyOf = (lines: readonly Line[]) => ({
  records: lines.map(({ ip, ptrdname }) => ({ ip, ptrdname })),
})

export function Batch() {
  const [opened, { open, close }] = useDisclosure(false)
  return (
    <>
      <Button variant="default" onClick={open}>
        {texts.open}
      </Button>
      <Modal opened={opened} onClose={close} title={texts.title} size="lg" closeOnClickOutside={false}>
        <BatchForm onClose={close} />
      </Modal>
    </>
  )
}

function BatchForm({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const [mistake, setMistake] = useState<string>()
  const check = useMutation({
    mutationFn: async (lines: readonly Line[]) =>
      resultOf<Answer>(
        (await call(updatePtrRecordsRoute, { body: bodyOf(lines), query: { dry_run: true } as object })).body,
      ),
  })
  const apply = useMutation({
    mutationFn: (lines: readonly Line[]) => call(updatePtrRecordsRoute, { body: bodyOf(lines) }),
    onSuccess: async ({ body }) => {
      notifySuccess(texts.done(changesIn(body.results)))
      onClose()
      await invalidateZones()
    },
  })
  const { lines, wrong } = parseLines(text)
  function submit(event: SyntheticEvent) {
    event.preventDefault()
    const found = mistakeIn(lines, wrong)
    setMistake(found)
    if (found === undefined) check.mutate(lines)
  }
  const error = apply.error ?? check.error
  const ofLines = mistakesOf(error, lines)
  const changes = check.data ? changesIn(check.data.results) : 0
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text size="sm">{texts.text}</Text>
        <Textarea
          label={texts.label}
          placeholder={texts.placeholder}
          autosize
          minRows={6}
          maxRows={14}
          data-autofocus
          data-verbatim
          value={text}
          error={mistake ?? (ofLines.length > 0 ? ofLines.join(' ') : undefined)}
          onChange={(event) => {
            setText(event.currentTarget.value)
            setMistake(undefined)
            check.reset()
            apply.reset()
          }}
        />
        {error && ofLines.length === 0 && <Problem error={error} />}
        {check.data && !error && <Results results={check.data.results} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {words.cancel}
          </Button>
          {check.data && !error ? (
            <Button disabled={changes === 0} loading={apply.isPending} onClick={() => apply.mutate(lines)}>
              {texts.apply(changes)}
            </Button>
          ) : (
            <Button type="submit" loading={check.isPending}>
              {texts.check}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  )
}

function mistakeIn(lines: readonly Line[], wrong: readonly number[]): string | undefined {
  if (wrong.length > 0) return texts.wrongLine(wrong[0]!)
  if (lines.length === 0) return texts.none
  return lines.length > ptrRecordsAtOnce ? texts.tooMany(ptrRecordsAtOnce) : undefined
}

const changesIn = (results: readonly PtrResult[]): number =>
  results.filter(({ status }) => status !== 'unchanged').length

const shownMistakes = 5

/** Returns the errors of the API with the line that each is in. */
function mistakesOf(error: unknown, lines: readonly Line[]): string[] {
  if (!(error instanceof ProblemError)) return []
  return (error.problem.errors ?? []).slice(0, shownMistakes).flatMap((one) => {
    const at = one.loc.indexOf('records')
    const line = at < 0 ? undefined : lines[Number(one.loc[at + 1])]
    return line === undefined ? [] : [texts.lineError(line.line, errorSentence(line.ip, one))]
  })
}

const Results = ({ results }: { results: readonly PtrResult[] }) => (
  <Table.ScrollContainer minWidth={420} maxHeight={300}>
    <Table aria-label={texts.effect}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{texts.address}</Table.Th>
          <Table.Th>{texts.before}</Table.Th>
          <Table.Th>{texts.after}</Table.Th>
          <Table.Th>{texts.effect}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {results.map(({ ip, previous, ptrdname, status }) => (
          <Table.Tr key={ip}>
            <Table.Td className={classes['mono']!} data-verbatim>
              {ip}
            </Table.Td>
            <Table.Td className={classes['mono']!} data-verbatim>
              {previous ?? texts.noName}
            </Table.Td>
            <Table.Td className={classes['mono']!} data-verbatim>
              {ptrdname ?? texts.noName}
            </Table.Td>
            <Table.Td>{texts.status[status]}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)
