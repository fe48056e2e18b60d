// Before a host is black-holed: explains the effect, lists the services on the host from the server's dry run, and asks for duration and regions.
import {
  Alert,
  Button,
  Checkbox,
  Group,
  Modal,
  NativeSelect,
  Skeleton,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import {
  createBlackholeRoute,
  listBlackholesRoute,
  type Blackhole,
  type BlackholeOnHost,
} from '@pharos/contract/shield/blackhole'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import { call, resultOf } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { Facts } from '../ui/facts.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { words } from './words.ts'

const { blackholes: texts } = words

type Props = {
  /** Fixed; without it the address is typed. */
  readonly host?: string
  readonly eventId?: string
  readonly onClose: () => void
}

export function BlackholeDialog({ host: fixed = '', eventId, onClose }: Props) {
  const [host, setHost] = useState(fixed)
  const [typed, setTyped] = useState('')
  const preview = useQuery({
    queryKey: ['blackhole', host],
    enabled: host !== '',
    gcTime: 0,
    retry: false,
    queryFn: () =>
      call(createBlackholeRoute, { body: { host, force: true }, query: { dry_run: true } as object }),
  })
  const next = preview.data && resultOf<Blackhole>(preview.data.body)
  function check(event: SyntheticEvent) {
    event.preventDefault()
    setHost(typed.trim())
  }
  return (
    <Modal opened onClose={onClose} title={texts.dialog(fixed)}>
      <Stack>
        {fixed === '' && (
          <form onSubmit={check}>
            <Group gap="xs" align="flex-end">
              <TextInput
                flex={1}
                label={texts.host}
                description={texts.hostHelp}
                placeholder="203.0.113.77"
                value={typed}
                onChange={(event) => setTyped(event.currentTarget.value)}
                data-autofocus
              />
              <Button type="submit" variant="default" disabled={typed.trim() === ''}>
                {texts.check}
              </Button>
            </Group>
          </form>
        )}
        {host !== '' && preview.isPending && <Skeleton height={160} aria-busy />}
        {preview.error && <Problem error={preview.error} />}
        {next?.on_host ? (
          <Choices
            key={next.host}
            blackhole={next}
            onHost={next.on_host}
            {...(eventId === undefined ? {} : { eventId })}
            onClose={onClose}
          />
        ) : (
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
          </Group>
        )}
      </Stack>
    </Modal>
  )
}

type ChoicesProps = {
  readonly blackhole: Blackhole
  readonly onHost: BlackholeOnHost
  readonly eventId?: string
  readonly onClose: () => void
}

function Choices({ blackhole: { host, regions }, onHost, eventId, onClose }: ChoicesProps) {
  const all = regions.map(({ region }) => region)
  const [minutes, setMinutes] = useState('60')
  const [chosen, setChosen] = useState<readonly string[]>(all)
  const [isForced, setForced] = useState(false)
  const create = useMutation({
    mutationFn: () =>
      call(createBlackholeRoute, {
        body: {
          host,
          expires: new Date(Date.now() + Number(minutes) * 60_000).toISOString(),
          regions: [...chosen],
          ...(eventId === undefined ? {} : { event_id: eventId }),
          ...(onHost.attacked ? {} : { force: true }),
        },
      }),
    onSuccess: async () => {
      notifySuccess(texts.requested)
      onClose()
      await invalidate(listBlackholesRoute)
    },
  })
  return (
    <>
      <Alert color="bad" icon={<IconAlertTriangle size={16} />} title={texts.warning(host)}>
        {texts.warningText}
      </Alert>
      <OnHost onHost={onHost} />
      <NativeSelect
        label={texts.duration}
        value={minutes}
        data={Object.entries(texts.durations).map(([value, label]) => ({ value, label }))}
        onChange={(event) => setMinutes(event.currentTarget.value)}
      />
      <Checkbox.Group label={texts.regions} value={[...chosen]} onChange={setChosen}>
        <Group gap="md" mt={4}>
          {all.map((region) => (
            <Checkbox key={region} value={region} label={region} />
          ))}
        </Group>
      </Checkbox.Group>
      {!onHost.attacked && (
        <Checkbox
          label={texts.force}
          checked={isForced}
          onChange={(event) => setForced(event.currentTarget.checked)}
        />
      )}
      {create.error && <Problem error={create.error} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {texts.cancel}
        </Button>
        <Button
          color="bad"
          disabled={chosen.length === 0 || !(onHost.attacked || isForced)}
          loading={create.isPending}
          onClick={() => create.mutate()}
        >
          {texts.action}
        </Button>
      </Group>
    </>
  )
}

function OnHost({ onHost: { announcements, ptr, traffic } }: { readonly onHost: BlackholeOnHost }) {
  const volume = ({ bytes, packets }: BlackholeOnHost['traffic']['normal']) =>
    traffic.state === 'complete'
      ? `${formatRate(bytes, 'B')}, ${formatRate(packets, 'packets')}`
      : texts.traffic[traffic.state]
  return (
    <section aria-label={texts.onHost}>
      <Text size="sm" fw={600} mb={4}>
        {texts.onHost}
      </Text>
      <Facts
        facts={[
          [texts.announced, announcements.map(({ cidr }) => cidr).join(', ')],
          [texts.ptr, ptr.length > 0 ? ptr.join(', ') : texts.noPtr],
          [texts.normal, volume(traffic.normal)],
          [texts.attack, volume(traffic.attack)],
        ]}
      />
    </section>
  )
}
