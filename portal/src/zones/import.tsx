// Import of a zone, into one or as a new one, from a zone file or from another name server: the report of the dry run first.
import { Button, Group, Loader, NumberInput, Radio, Stack, Switch, Text, TextInput } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import type { ImportMode } from '@pharos/contract/dns/import'
import type { Zone } from '@pharos/contract/dns/zone'
import { IconDownload } from '@tabler/icons-react'
import { onlyWith, useGrant } from '../api/use-grant.ts'
import { placeErrors } from '../ui/form-errors.ts'
import { ButtonLink } from '../ui/link.tsx'
import { isPreconditionFailed, useNewerVersion } from '../ui/newer-version.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { ClaimProof } from './claim-proof.tsx'
import { exportZone } from './export.ts'
import { lineErrors } from './import-errors.ts'
import { ImportErrors, ImportReport } from './import-report.tsx'
import { FileSource, ServerSource } from './import-sources.tsx'
import {
  sources,
  useImport,
  type ImportDraft,
  type ImportForm,
  type Mistakes,
  type Source,
} from './use-import.ts'
import { words } from './words.ts'

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

const labels = { name: texts.name, server: texts.server, port: texts.port, tsig: texts.key }

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

function progressText({ source, content, server }: ImportDraft, isApplying: boolean): string {
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
