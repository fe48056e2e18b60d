// One cross connect: its way from the port to the customer, its steps, who has to act, and its letter.
import { Anchor, FileInput, Group, Stack, Text } from '@mantine/core'
import type { Attachment } from '@pharos/contract/inventory/attachment'
import {
  getCrossConnectRoute,
  listCrossConnectsRoute,
  uploadCrossConnectLetterRoute,
  type CrossConnect,
} from '@pharos/contract/inventory/cross-connect'
import { getPortRoute } from '@pharos/contract/inventory/port'
import { IconFileUpload, IconUpload } from '@tabler/icons-react'
import { useParams } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { onlyWith, useGrant } from '../api/use-grant.ts'
import { Facts } from '../ui/facts.tsx'
import { useRequestForm } from '../ui/form.tsx'
import { TextLink } from '../ui/link.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Columns, Page } from '../ui/page.tsx'
import { PendingPage } from '../ui/pending-page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { StepList, type Step } from '../ui/step-list.tsx'
import { SubmitButton } from '../ui/submit-button.tsx'
import { Time } from '../ui/time.tsx'
import { fileHref } from '../ui/file-href.ts'
import { CrossConnectPill } from './cross-connect-state.tsx'
import classes from './inventory.module.css'
import { words } from './words.ts'

const { crossConnect: texts, crossConnects: list } = words
const accepted = ['application/pdf', 'image/png', 'image/jpeg']

export function CrossConnectPage() {
  const { id } = useParams({ from: '/frame/cross-connects/$id' })
  const answer = useAnswer(
    getCrossConnectRoute,
    { params: { cross_connect_id: Number(id) }, query: { include: 'log' } },
    { refetchInterval: 30_000 },
  )
  const one = answer.data
  if (!one) return <PendingPage title={texts.title} answer={answer} />
  return (
    <Page title={one.name} state={<CrossConnectPill {...one} />} note={one.circuit_id}>
      <Columns rail={<CrossConnectFacts one={one} />}>
        <StepList label={texts.steps} steps={stepsOf(one)} />
        <NextStep one={one} />
        <Way one={one} />
        <Log one={one} />
      </Columns>
    </Page>
  )
}

const order = ['reserved', 'awaiting_loa', 'awaiting_connect', 'connected'] as const

/** After it was connected, the last step has the state that follows. */
function stepsOf({ status, waits_for, requested, connected, ceased }: CrossConnect): Step[] {
  const reached = (order as readonly string[]).indexOf(status)
  const at = reached === -1 ? order.length - 1 : reached
  return order.map((step, index): Step => {
    const isCurrent = index === at
    const isLast = step === 'connected'
    const name = isLast && reached === -1 ? list.statuses[status] : texts.stepNames[step]
    const state = !isCurrent
      ? index < at
        ? 'done'
        : 'next'
      : status === 'broken'
        ? 'bad'
        : waits_for === 'customer' || status === 'awaiting_cease'
          ? 'warn'
          : waits_for === 'nobody'
            ? 'done'
            : 'now'
    const time = index === 0 ? requested : isLast ? (ceased ?? connected) : null
    return {
      name,
      state,
      text: isCurrent && waits_for !== 'nobody' ? texts.turn[waits_for] : '',
      ...(time === null ? {} : { at: time }),
    }
  })
}

function NextStep({ one }: { one: CrossConnect }) {
  const canOrder = useGrant('inventory.order')
  return (
    <Section title={texts.next}>
      <Stack gap="sm">
        <Text size="sm">{one.next_step}</Text>
        {one.loa_document && <LetterLink letter={one.loa_document} />}
        {one.status === 'awaiting_loa' &&
          (canOrder ? (
            <LetterForm id={one.id} />
          ) : (
            <Text size="sm" c="dimmed">
              {onlyWith('inventory.order')}
            </Text>
          ))}
      </Stack>
    </Section>
  )
}

const LetterLink = ({ letter: { filename, url, created } }: { letter: Attachment }) => (
  <Text size="sm">
    {texts.letter}{' '}
    <Anchor href={fileHref(url)} download size="sm" underline="always">
      {filename}
    </Anchor>
    , <Time at={created} />
  </Text>
)

type Values = { readonly file: File | null; readonly description: string }

function LetterForm({ id }: { id: number }) {
  const form = useRequestForm<Values, unknown>({
    initialValues: { file: null, description: '' },
    validate: ({ file }) => (file && !accepted.includes(file.type) ? { file: texts.wrongType } : {}),
    request: ({ file }) =>
      call(uploadCrossConnectLetterRoute, {
        params: { cross_connect_id: id },
        form: { file: file!, fields: {} },
      }),
    onSuccess: async () => {
      form.restart({ file: null, description: '' })
      notifySuccess(texts.sent)
      await invalidate(getCrossConnectRoute, listCrossConnectsRoute)
    },
  })
  const { file } = form.fields.values
  return (
    <form onSubmit={form.submit}>
      <Group align="flex-end">
        <FileInput
          size="xs"
          w={320}
          label={texts.file}
          description={texts.fileHelp}
          placeholder={texts.choose}
          accept={accepted.join(',')}
          leftSection={<IconFileUpload size={14} />}
          clearable
          clearButtonProps={{ 'aria-label': texts.removeFile }}
          {...form.fields.getInputProps('file')}
        />
        <SubmitButton
          form={form}
          leftSection={<IconUpload size={14} />}
          disabled={file === null || !accepted.includes(file.type)}
        >
          {texts.send}
        </SubmitButton>
      </Group>
      {form.problem !== undefined && <Problem error={form.problem} />}
    </form>
  )
}

/** The port, both panels and the customer, as a line of boxes. */
function Way({ one: { a_side: near, z_side: far, location, media, connector } }: { one: CrossConnect }) {
  const port = useAnswer(getPortRoute, { params: { port_id: near.port_id ?? 0 } })
  const places = (side: { panel: string; module: string; position: string }) =>
    [side.panel, side.module, side.position].filter(Boolean).join(' / ') || texts.notSet
  const cable = [media, connector].filter(Boolean).join(', ')
  return (
    <Section title={texts.way}>
      <ol className={classes['way']}>
        <li>
          <strong>{texts.port}</strong>
          {near.port_id === null || !port.data ? (
            <span>{texts.notSet}</span>
          ) : (
            <TextLink to="/ports/$id" params={{ id: String(near.port_id) }} size="sm">
              {port.data.device_name} {port.data.name}
            </TextLink>
          )}
        </li>
        <li>
          <strong>{texts.ourPanel}</strong>
          <span>{places(near)}</span>
        </li>
        <li>
          <strong>{texts.room}</strong>
          <span>{location?.name ?? texts.notSet}</span>
          {cable !== '' && <span className={classes['wayCable']}>{cable}</span>}
        </li>
        <li>
          <strong>{texts.theirPanel}</strong>
          <span>{places(far)}</span>
        </li>
        <li>
          <strong>{far.name || texts.customer}</strong>
          <span>{far.circuit_id || texts.notSet}</span>
        </li>
      </ol>
    </Section>
  )
}

const CrossConnectFacts = ({ one }: { one: CrossConnect }) => (
  <Section title={texts.title}>
    <Facts
      facts={[
        [list.circuit, one.circuit_id],
        [list.waitsFor, list.actors[one.waits_for]],
        [list.location, one.location?.name],
        [texts.media, one.media],
        [texts.connector, one.connector],
        [texts.order, one.provider_ref],
        [texts.chargeable, one.chargeable ? texts.yes : texts.no],
        [list.requested, <Time key="requested" at={one.requested} />],
        [texts.connected, one.connected && <Time key="connected" at={one.connected} />],
        [texts.ceased, one.ceased ? <Time key="ceased" at={one.ceased} /> : undefined],
        [
          texts.service,
          <TextLink key="service" to="/services/$id" params={{ id: String(one.service_id) }} size="sm">
            {texts.openService}
          </TextLink>,
        ],
      ]}
    />
  </Section>
)

const Log = ({ one: { log = [] } }: { one: CrossConnect }) =>
  log.length === 0 ? null : (
    <Section title={texts.log}>
      <Facts
        facts={log.map(({ at, before, after, note }) => [
          '',
          <span key={at}>
            <Time at={at} /> · {list.statuses[before]} → {list.statuses[after]}
            {note !== '' && ` · ${note}`}
          </span>,
        ])}
      />
    </Section>
  )
