// Import of a zone file, into a zone or as a new one: the report of the dry run first, with every line that is not applied.
import {
  Button,
  FileInput,
  Group,
  NumberInput,
  Paper,
  Radio,
  Stack,
  Table,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import {
  importZoneRoute,
  zoneFileBytesMax,
  type ImportMode,
  type ImportResult,
} from '@pharos/contract/dns-import'
import type { Zone } from '@pharos/contract/dns-zone'
import { IconDownload, IconFileImport } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type DragEvent, type SyntheticEvent } from 'react'
import { call } from '../api/call.ts'
import { useIsAdmin } from '../api/use-session.ts'
import { notifySuccess } from '../ui/notify.ts'
import { ButtonLink } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'
import { exportZone } from './export.ts'
import { lineErrors, type LineError } from './import-errors.ts'
import { Plan } from './plan.tsx'
import { words } from './words.ts'
import { invalidateZones, resultOf } from './zone-queries.ts'
import classes from './zones.module.css'

const { import: texts } = words

/** The page of an import that creates a zone. */
export const ImportPage = () => (
  <Page title={texts.title} note={texts.note}>
    <Import />
    <Group>
      <ButtonLink to="/zones" variant="default">
        {words.cancel}
      </ButtonLink>
    </Group>
  </Page>
)

export function ImportTab({ zone }: { zone: Zone }) {
  const isAdmin = useIsAdmin()
  return (
    <Stack>
      <Section
        title={texts.export}
        actions={
          <Button
            variant="default"
            leftSection={<IconDownload size={14} />}
            onClick={() => void exportZone(zone)}
          >
            {texts.exportAction}
          </Button>
        }
      >
        <Text size="sm" c="dimmed">
          {texts.exportText}
        </Text>
      </Section>
      {zone.kind === 'secondary' || !isAdmin ? (
        <Text size="sm" c="dimmed">
          {zone.kind === 'secondary' ? texts.secondary : texts.readOnly}
        </Text>
      ) : (
        <Import zone={zone} />
      )}
    </Stack>
  )
}

function Import({ zone }: { zone?: Zone }) {
  const navigate = useNavigate()
  const [name, setName] = useState(zone?.name ?? '')
  const [content, setContent] = useState('')
  const [file, setFile] = useState<File | null>(null)
  const [mode, setMode] = useState<ImportMode>(zone ? 'merge' : 'create')
  const [floor, setFloor] = useState<string | number>('')
  const [mistake, setMistake] = useState<string>()
  const body = () => ({
    name: name.trim(),
    zonefile: content,
    mode,
    ...(floor === '' ? {} : { ttl_floor: Number(floor) }),
  })
  const check = useMutation({
    mutationFn: async () =>
      resultOf<ImportResult>(
        (await call(importZoneRoute, { body: body(), query: { dry_run: true } as object })).body,
      ),
  })
  const apply = useMutation({
    mutationFn: async () => (await call(importZoneRoute, { body: body() })).body,
    onSuccess: async (result) => {
      notifySuccess(texts.applied(result.zone.name))
      check.reset()
      await invalidateZones()
      await navigate({ to: '/zones/$id', params: { id: String(result.zone.id) }, search: {} })
    },
  })
  /** A report belongs to what was checked. */
  const changed = () => {
    setMistake(undefined)
    check.reset()
    apply.reset()
  }
  async function take(next: File | null) {
    changed()
    setFile(next)
    if (next && next.size > zoneFileBytesMax) return setMistake(texts.tooLarge)
    setContent(next ? await next.text() : '')
  }
  function submit(event: SyntheticEvent) {
    event.preventDefault()
    if (content.trim() === '') setMistake(texts.noText)
    else if (mistake === undefined) check.mutate()
  }
  const error = apply.error ?? check.error
  const errors = lineErrors(error)
  return (
    <>
      <Section title={texts.section}>
        <form onSubmit={submit} noValidate>
          <Stack>
            {!zone && (
              <TextInput
                label={texts.name}
                description={texts.nameHelp}
                placeholder="example.com"
                maw={400}
                required
                withAsterisk={false}
                value={name}
                onChange={(event) => {
                  changed()
                  setName(event.currentTarget.value)
                }}
              />
            )}
            <DropZone onDrop={(next) => void take(next)}>
              <Stack gap="sm">
                <FileInput
                  maw={400}
                  label={texts.file}
                  description={texts.fileHelp}
                  placeholder={texts.choose}
                  leftSection={<IconFileImport size={14} />}
                  clearable
                  clearButtonProps={{ 'aria-label': texts.removeFile }}
                  value={file}
                  error={mistake}
                  onChange={(next) => void take(next)}
                />
                <Textarea
                  aria-label={texts.text}
                  placeholder={texts.textPlaceholder}
                  ff="monospace"
                  autosize
                  minRows={5}
                  maxRows={16}
                  value={content}
                  data-verbatim
                  onChange={(event) => {
                    changed()
                    setContent(event.currentTarget.value)
                  }}
                />
              </Stack>
            </DropZone>
            {zone && (
              <Radio.Group
                label={texts.mode}
                value={mode}
                onChange={(next) => {
                  changed()
                  setMode(next as ImportMode)
                }}
              >
                <Stack gap="xs" mt={6}>
                  {(['merge', 'replace'] as const).map((one) => (
                    <Radio key={one} value={one} label={texts.modes[one]} description={texts.modeHelp[one]} />
                  ))}
                </Stack>
              </Radio.Group>
            )}
            <NumberInput
              label={texts.floor}
              description={texts.floorHelp}
              maw={220}
              min={0}
              max={86_400}
              suffix={` ${texts.seconds}`}
              value={floor}
              onChange={(next) => {
                changed()
                setFloor(next)
              }}
            />
            <Group>
              <Button type="submit" variant={check.data ? 'default' : 'filled'} loading={check.isPending}>
                {texts.check}
              </Button>
            </Group>
          </Stack>
        </form>
      </Section>
      {errors.length > 0 ? (
        <Errors errors={errors} />
      ) : (
        error && <Problem error={error} retry={() => (apply.error ? apply.mutate() : check.mutate())} />
      )}
      {check.data && !error && (
        <Report
          result={check.data}
          action={mode === 'create' ? texts.create : texts.apply}
          isPending={apply.isPending}
          onApply={() => apply.mutate()}
        />
      )}
    </>
  )
}

/** Dropping needs a pointer; the field inside works with the keyboard. */
function DropZone({ onDrop, children }: { onDrop: (file: File) => void; children: React.ReactNode }) {
  const [isOver, setIsOver] = useState(false)
  function take(event: DragEvent) {
    event.preventDefault()
    setIsOver(false)
    const [file] = event.dataTransfer.files
    if (file) onDrop(file)
  }
  return (
    <Paper
      withBorder
      p="sm"
      className={classes['drop']!}
      data-over={isOver || undefined}
      data-drop
      onDragOver={(event) => {
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={take}
    >
      {children}
    </Paper>
  )
}

function Errors({ errors }: { errors: readonly LineError[] }) {
  return (
    <Section
      title={texts.report}
      note={<StatePill color="bad">{texts.errors(errors.length)}</StatePill>}
      flush
    >
      <Lines
        label={texts.errors(errors.length)}
        head={texts.problem}
        rows={errors.map(({ line, message, text }) => ({ line, reason: message, text }))}
      />
    </Section>
  )
}

type ReportProps = { result: ImportResult; action: string; isPending: boolean; onApply: () => void }

function Report({ result, action, isPending, onApply }: ReportProps) {
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
              {line}
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
