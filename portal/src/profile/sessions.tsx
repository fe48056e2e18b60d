// The user's open sessions by device; each can be signed out.
import { Button, Group, Skeleton, Text } from '@mantine/core'
import { deleteSessionRoute, listSessionsRoute, type OpenSession } from '@pharos/contract/session/account'
import { IconDeviceDesktop, IconDeviceMobile, IconTerminal2 } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { session, StillSignedIn } from '../api/session.ts'
import { useUser } from '../api/use-session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { FormSection } from '../ui/form.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { deviceOf } from './device.ts'
import classes from './profile.module.css'
import { useAllRows } from '../ui/use-all-rows.ts'
import { SectionProblem } from './section-problem.tsx'
import { words } from './words.ts'

const { sessions: t } = words

export function Sessions() {
  const answer = useAllRows(listSessionsRoute, {}, 30_000)
  return (
    <FormSection title={t.title} help={t.help}>
      {answer.error && !answer.data && <SectionProblem error={answer.error} retry={answer.refetch} />}
      {answer.isPending && <Skeleton height={120} />}
      {answer.data && (
        <ul className={classes['sessions']}>
          {answer.data.map((one) => (
            <Row key={one.id} session={one} />
          ))}
        </ul>
      )}
      <Group>
        <Dialog
          title={t.outTitle}
          action={t.out}
          danger
          trigger={(open) => (
            <Button variant="default" onClick={open}>
              {t.out}
            </Button>
          )}
          onSubmit={() =>
            session.signOut(true).catch((error: unknown) => {
              throw error instanceof StillSignedIn ? error.cause : error
            })
          }
        >
          <Text size="sm">{t.outText}</Text>
        </Dialog>
      </Group>
    </FormSection>
  )
}

const icons = { phone: IconDeviceMobile, computer: IconDeviceDesktop, program: IconTerminal2 } as const

function Row({ session: one }: { session: OpenSession }) {
  const { id, current, user_agent, address, created, last_used, expires, team_id } = one
  const user = useUser()
  const team = user?.teams.find((team) => team.id === team_id)?.name
  const { name, kind } = deviceOf(user_agent)
  const Icon = icons[kind]
  const end = useMutation({
    mutationFn: () => call(deleteSessionRoute, { params: { session_id: id } }),
    onSuccess: () => invalidate(listSessionsRoute),
    onError: notifyProblem,
  })
  return (
    <li className={classes['session']}>
      <Icon size={20} stroke={1.5} className={classes['device']} />
      <div className={classes['about']}>
        <div className={classes['name']}>
          <span title={user_agent}>{name}</span>
          {current && <StatePill color="info">{t.current}</StatePill>}
        </div>
        <Text size="xs" c="dimmed">
          {[address || t.noAddress, team].filter(Boolean).join(' · ')}
        </Text>
        <Text size="xs" c="dimmed">
          {t.active} <Time at={last_used} /> · {t.since} <Time at={created} /> · {t.until}{' '}
          <Time at={expires} />
        </Text>
      </div>
      {!current && (
        <Button
          variant="default"
          size="compact-sm"
          loading={end.isPending}
          aria-label={t.endOf(name)}
          onClick={() => end.mutate()}
        >
          {t.end}
        </Button>
      )}
    </li>
  )
}
