// Import of a zone, into one or as a new one, from a zone file or from another name server: the report of the dry run first.
import { Button, Group, Loader, NumberInput, Radio, Stack, Switch, Text, TextInput } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import {
  importZoneRoute,
  zoneFileBytesMax,
  type ImportMode,
  type ImportResult,
} from '@pharos/contract/dns/import'
import type { Zone } from '@pharos/contract/dns/zone'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type SyntheticEvent } from 'react'
import { call, resultOf } from '../api/call.ts'
import { onlyWith, useGrant } from '../api/use-grant.ts'
import { placeErrors } from '../ui/form-errors.ts'
import { ButtonLink } from '../ui/link.tsx'
import { isPreconditionFailed, useNewerVersion } from '../ui/newer-version.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { ClaimProof } from './claim-proof.tsx'
import { exportZone } from './export.ts'
import { guessZone } from './guess-zone.ts'
import { lineErrors } from './import-errors.ts'
import { ImportErrors, ImportReport } from './import-report.tsx'
import { FileSource, ServerSource, type TransferSource } from './import-sources.tsx'
import { words } from './words.ts'
import { invalidateZones, readZoneMark } from './zone-queries.ts'

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
  const canManage = useGrant('dns.manage')
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
      {zone.kind === 'secondary' || !canManage ? (
        <Text size="sm" c="dimmed">
          {zone.kind === 'secondary' ? texts.secondary : onlyWith('dns.manage')}
        </Text>
      ) : (
        <Import zone={zone} />
      )}
    </Stack>
  )
}

const sources = ['file', 'server'] as const
type Source = (typeof sources)[number]

type Draft = {
  readonly name: string
  readonly source: Source
  readonly content: string
  readonly server: TransferSource
  readonly mode: ImportMode
  readonly floor: string | number
  readonly dnssec: boolean
}

const bodyOf = ({ name, source, content, server, mode, floor, dnssec }: Draft) => ({
  name: name.trim(),
  mode,
  ...(source === 'file' ? { zonefile: content } : { axfr: axfrOf(server) }),
  ...(floor === '' ? {} : { ttl_floor: Number(floor) }),
  ...(mode === 'create' ? { dnssec } : {}),
})

const axfrOf = ({ address, port, key }: TransferSource) => ({
  server: address.trim(),
  ...(port === '' ? {} : { port: Number(port) }),
  ...(key.trim() === '' ? {} : { tsig: key.trim() }),
})

type Mistakes = Readonly<Record<string, string>>

const labels = { name: texts.name, server: texts.server, port: texts.port, tsig: texts.key }

const draftOf = (zone: Zone | undefined): Draft => ({
  name: zone?.name ?? '',
  source: 'file',
  content: '',
  server: { address: '', port: '', key: '' },
  mode: zone ? 'merge' : 'create',
  floor: '',
  dnssec: true,
})

/** The dry run, and the import of exactly its changes. */
function useImportRequests(zone: Zone | undefined, draft: Draft) {
  const navigate = useNavigate()
  const check = useMutation({
    mutationFn: async () => {
      const headers = zone ? { 'if-match': (await readZoneMark(String(zone.id))).etag } : {}
      const query = { dry_run: true } as object
      const { body } = await call(importZoneRoute, { body: bodyOf(draft), query, headers })
      return { report: resultOf<ImportResult>(body), headers }
    },
  })
  const apply = useMutation({
    // Applies exactly the reported changes.
    mutationFn: async () =>
      (await call(importZoneRoute, { body: bodyOf(draft), headers: check.data?.headers ?? {} })).body,
    onSuccess: async (result) => {
      notifySuccess(texts.applied(result.zone.name))
      check.reset()
      await invalidateZones()
      await navigate({ to: '/zones/$id', params: { id: String(result.zone.id) }, search: {} })
    },
  })
  return { check, apply }
}

function useImport(zone: Zone | undefined) {
  const [draft, setDraft] = useState(() => draftOf(zone))
  const [file, setFile] = useState<File | null>(null)
  const [mistakes, setMistakes] = useState<Mistakes>({})
  const { check, apply } = useImportRequests(zone, draft)
  /** A report is valid only for the checked input. */
  function change(changes: Partial<Draft>) {
    setDraft((now) => ({ ...now, ...changes }))
    setMistakes({})
    check.reset()
    apply.reset()
  }
  async function take(next: File | null) {
    setFile(next)
    if (next && next.size > zoneFileBytesMax) {
      change({ content: '' })
      return setMistakes({ file: texts.tooLarge })
    }
    const text = next ? await next.text() : ''
    const guessed = zone || draft.name.trim() !== '' ? undefined : guessZone(text, next?.name)
    change({ content: text, ...(guessed === undefined ? {} : { name: guessed }) })
  }
  function submit(event: SyntheticEvent) {
    event.preventDefault()
    const found = mistakesIn(draft, mistakes['file'])
    setMistakes(found)
    if (Object.keys(found).length === 0) check.mutate()
  }
  return { draft, file, mistakes, check, apply, change, take, submit }
}

/** `ofFile`: the mistake of a file whose text was not read. */
function mistakesIn({ name, source, content, server }: Draft, ofFile: string | undefined): Mistakes {
  const found: Record<string, string> = {}
  if (name.trim() === '') found['name'] = texts.noName
  if (source === 'file' && content.trim() === '') found['file'] = ofFile ?? texts.noText
  if (source === 'server' && server.address.trim() === '') found['server'] = texts.noServer
  return found
}

function Import({ zone }: { zone?: Zone }) {
  const form = useImport(zone)
  const { draft, check, apply, submit } = form
  const { name, source, mode } = draft
  const isOutdated = isPreconditionFailed(apply.error)
  const newer = useNewerVersion({
    isNewer: isOutdated,
    isEdited: true,
    load: () => {
      apply.reset()
      check.mutate()
    },
    name,
  })
  const error = isOutdated ? undefined : (apply.error ?? check.error)
  const { lines, fields, rest } = errorsOf(error)
  const isBusy = check.isPending || apply.isPending
  return (
    <>
      <Section title={source === 'file' ? texts.section : texts.sectionServer}>
        <form onSubmit={submit} noValidate>
          <Stack>
            <SourceFields form={form} hasName={!zone} refused={fields} />
            <ModeFields form={form} hasModes={zone !== undefined} />
            <Group>
              <Button type="submit" variant={check.data ? 'default' : 'filled'} disabled={isBusy}>
                {source === 'file' ? texts.check : texts.checkServer}
              </Button>
              {isBusy && <Progress text={progressText(draft, apply.isPending)} />}
            </Group>
          </Stack>
        </form>
      </Section>
      <ClaimProof error={error} onVerified={() => check.mutate()} />
      {lines.length > 0 && <ImportErrors errors={lines} />}
      {rest !== undefined && (
        <Problem error={rest} retry={() => (apply.error ? apply.mutate() : check.mutate())} />
      )}
      {newer}
      {check.data && !error && !isOutdated && (
        <ImportReport
          result={check.data.report}
          action={mode === 'create' ? texts.create : texts.apply}
          isPending={apply.isPending}
          onApply={() => apply.mutate()}
        />
      )}
    </>
  )
}

type ImportForm = ReturnType<typeof useImport>

type SourceFieldsProps = {
  readonly form: ImportForm
  /** Without a name, the import is for the zone of the page. */
  readonly hasName: boolean
  /** The errors of the server. */
  readonly refused: Mistakes
}

function SourceFields({
  form: { draft, file, mistakes, change, take },
  hasName,
  refused,
}: SourceFieldsProps) {
  const { name, source, content, server } = draft
  return (
    <>
      <Radio.Group
        label={texts.source}
        value={source}
        onChange={(next) => change({ source: next as Source })}
      >
        <Group gap="lg" mt={6}>
          {sources.map((one) => (
            <Radio key={one} value={one} label={texts.sources[one]} />
          ))}
        </Group>
      </Radio.Group>
      {hasName && (
        <TextInput
          label={texts.name}
          description={texts.nameHelp}
          placeholder="example.com"
          maw={400}
          required
          withAsterisk={false}
          autoComplete="off"
          value={name}
          error={mistakes['name'] ?? refused['name']}
          onChange={(event) => change({ name: event.currentTarget.value })}
        />
      )}
      {source === 'file' ? (
        <FileSource
          file={file}
          content={content}
          mistake={mistakes['file']}
          onFile={(next) => void take(next)}
          onContent={(next) => change({ content: next })}
        />
      ) : (
        <ServerSource
          value={server}
          mistakes={{ ...refused, ...mistakes }}
          onChange={(next) => change({ server: next })}
        />
      )}
    </>
  )
}

type ModeFieldsProps = { readonly form: ImportForm; readonly hasModes: boolean }

const ModeFields = ({ form: { draft, change }, hasModes }: ModeFieldsProps) => (
  <>
    {hasModes && (
      <Radio.Group
        label={texts.mode}
        value={draft.mode}
        onChange={(next) => change({ mode: next as ImportMode })}
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
      maw={280}
      min={0}
      max={86_400}
      suffix={` ${texts.seconds}`}
      value={draft.floor}
      onChange={(next) => change({ floor: next })}
    />
    {draft.mode === 'create' && (
      <Switch
        label={texts.dnssec}
        description={texts.dnssecHelp}
        checked={draft.dnssec}
        onChange={(event) => change({ dnssec: event.currentTarget.checked })}
      />
    )}
  </>
)

/** A mistake is told once: at its line, at its field, with the record that shows whose the name is, or in the box. */
function errorsOf(error: unknown) {
  const lines = lineErrors(error)
  if (lines.length > 0) return { lines, fields: {}, rest: undefined }
  if (error instanceof ProblemError && error.problem.code === 'zone_claimed')
    return { lines, fields: {}, rest: undefined }
  return { lines, ...placeErrors(error ?? undefined, Object.keys(labels), labels) }
}

function progressText({ source, content, server }: Draft, isApplying: boolean): string {
  if (isApplying) return texts.applying
  return source === 'file'
    ? texts.checking(content.split('\n').length)
    : texts.transferring(server.address.trim())
}

const Progress = ({ text }: { text: string }) => (
  <Group gap="xs" role="status">
    <Loader size={16} />
    <Text size="sm">{text}</Text>
  </Group>
)
