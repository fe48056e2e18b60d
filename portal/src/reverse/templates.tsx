// The templates of reverse DNS: a pattern for every address of a network, with the first names and the effect before it is applied.
import { Button, Skeleton, Stack, Table, Text } from '@mantine/core'
import {
  deletePtrTemplateRoute,
  listPtrTemplatesRoute,
  ptrOverwrites,
  updatePtrRecordsRoute,
  type PtrOverwrite,
  type PtrTemplate,
} from '@pharos/contract/dns/ptr'
import type { ResponseOf } from '@pharos/contract/route'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { call, resultOf } from '../api/call.ts'
import { teamIdNow, useAnswer } from '../api/queries.ts'
import { useGrant } from '../api/use-grant.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { text } from '../ui/form-text-widgets.tsx'
import { number, select } from '../ui/form-widgets.tsx'
import { AllFields, type RequestForm } from '../ui/form.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { invalidateZones } from '../zones/zone-queries.ts'
import { sampleNames } from './networks.ts'
import { words } from './words.ts'
import classes from './reverse.module.css'

const { templates: texts } = words

export function Templates({ network }: { network: string }) {
  const answer = useAnswer(listPtrTemplatesRoute, { query: { limit: 1000 } })
  const canEdit = useGrant('dns.edit')
  if (answer.error && !answer.data) return <Problem error={answer.error} retry={() => answer.refetch()} />
  if (!answer.data) return <Skeleton height={160} radius="lg" />
  if (answer.data.count === 0)
    return (
      <Empty title={texts.none}>
        <Stack align="center">
          <span data-verbatim>{texts.noneText}</span>
          {canEdit && <AddTemplate network={network} />}
        </Stack>
      </Empty>
    )
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {texts.note}
      </Text>
      {canEdit && (
        <div>
          <AddTemplate network={network} />
        </div>
      )}
      <Table.ScrollContainer minWidth={560}>
        <Table aria-label={texts.title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.cidr}</Table.Th>
              <Table.Th>{texts.pattern}</Table.Th>
              <Table.Th>{texts.overwrite}</Table.Th>
              <Table.Th>{texts.changed}</Table.Th>
              {canEdit && <Table.Th>{texts.actions}</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {answer.data.results.map((template) => (
              <Table.Tr key={template.id}>
                <Table.Td className={classes['mono']!}>{template.cidr}</Table.Td>
                <Table.Td className={classes['mono']!} data-verbatim>
                  {template.pattern}
                </Table.Td>
                <Table.Td>{texts.overwrites[template.overwrite]}</Table.Td>
                <Table.Td>
                  <Time at={template.touched} />
                </Table.Td>
                {canEdit && (
                  <Table.Td>
                    <RemoveTemplate template={template} />
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  )
}

const declared = {
  cidr: text({
    label: texts.cidr,
    help: texts.cidrHelp,
    required: true,
    mono: true,
    placeholder: '192.0.2.0/24',
  }),
  pattern: text({
    label: texts.pattern,
    help: <span data-verbatim>{texts.patternHelp}</span>,
    required: true,
    mono: true,
    placeholder: '{ip-dashed}.pool.example.net',
  }),
  overwrite: select({
    label: texts.overwrite,
    help: texts.overwriteHelp,
    required: true,
    data: ptrOverwrites.map((value) => ({ value, label: texts.overwrites[value] })),
  }),
  ttl: number({ label: texts.ttl, unit: texts.seconds }),
}

type Values = { cidr: string; pattern: string; overwrite: PtrOverwrite; ttl: number | '' }
type Answer = ResponseOf<typeof updatePtrRecordsRoute>

const bodyOf = ({ cidr, pattern, overwrite, ttl }: Values) => ({
  templates: [{ cidr: cidr.trim(), pattern: pattern.trim(), overwrite, ...(ttl === '' ? {} : { ttl }) }],
})

const AddTemplate = ({ network }: { network: string }) => (
  <Dialog<Values>
    title={texts.add}
    action={texts.apply}
    size="lg"
    declared={declared}
    initialValues={{ cidr: network, pattern: '', overwrite: 'generated', ttl: '' }}
    trigger={(open) => (
      <Button leftSection={<IconPlus size={14} />} onClick={open}>
        {texts.add}
      </Button>
    )}
    onSubmit={async (values) => {
      const { body } = await call(updatePtrRecordsRoute, { body: bodyOf(values) })
      notifySuccess(texts.done(body.templates[0]!.template.cidr))
      await invalidateZones()
    }}
  >
    {(_fields, form) => (
      <>
        <AllFields form={form} />
        <Preview form={form} />
      </>
    )}
  </Dialog>
)

function Preview({ form }: { form: RequestForm<Values, unknown> }) {
  const { values } = form.fields
  const names = sampleNames(values.cidr, values.pattern)
  const body = bodyOf(values)
  // A result belongs to the settings that were checked.
  const effect = useQuery({
    queryKey: [teamIdNow(), 'template effect', body],
    enabled: false,
    gcTime: 0,
    queryFn: async () =>
      resultOf<Answer>(
        (await call(updatePtrRecordsRoute, { body, query: { dry_run: true } as object })).body,
      ),
  })
  const counted = effect.data?.templates[0]
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>
        {texts.preview}
      </Text>
      {names === undefined ? (
        <Text size="sm" c="dimmed">
          {texts.previewNone}
        </Text>
      ) : (
        <ul className={classes['preview']} aria-label={texts.preview}>
          {names.map(([ip, name]) => (
            <li key={ip} className={classes['mono']} data-verbatim>
              {ip} → {name}
            </li>
          ))}
          <li>
            <Text size="xs" c="dimmed">
              {texts.and}
            </Text>
          </li>
        </ul>
      )}
      <div>
        <Button
          variant="default"
          size="compact-sm"
          disabled={values.cidr === '' || values.pattern === ''}
          loading={effect.isFetching}
          onClick={() => void effect.refetch()}
        >
          {texts.check}
        </Button>
      </div>
      {effect.error && <Problem error={effect.error} />}
      {counted && (
        <Text size="sm" role="status">
          {texts.effect(counted.created, counted.updated, counted.unchanged, counted.kept)}
        </Text>
      )}
    </Stack>
  )
}

const RemoveTemplate = ({ template: { id, cidr } }: { template: PtrTemplate }) => (
  <Dialog
    title={texts.removeTitle(cidr)}
    action={texts.remove}
    danger
    trigger={(open) => (
      <Button variant="default" size="compact-sm" aria-label={texts.removeOf(cidr)} onClick={open}>
        {texts.remove}
      </Button>
    )}
    onSubmit={async () => {
      await call(deletePtrTemplateRoute, { params: { template_id: id } })
      notifySuccess(texts.removed(cidr))
      await invalidateZones()
    }}
  >
    <Text size="sm">{texts.removeText}</Text>
  </Dialog>
)
