// The team's domains: the record that verifies each, and whether people with an address at it join automatically.
import { Button, Group, Skeleton, Stack, Switch, Text } from '@mantine/core'
import {
  addDomainRoute,
  listDomainsRoute,
  removeDomainRoute,
  updateDomainRoute,
  verifyDomainRoute,
  type Domain,
} from '@pharos/contract/team/domain'
import { IconPlus } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { Fragment } from 'react'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { useGrant } from '../api/use-grant.ts'
import { CopyIcon } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { text } from '../ui/form-text-widgets.tsx'
import { toggle } from '../ui/form-widgets.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { StatePill } from '../ui/status.tsx'
import classes from './team.module.css'
import { words } from './words.ts'

const { domain: t } = words

const team = { team_id: 'current' } as const
const declared = {
  domain: text({ label: t.domain, help: t.help, placeholder: 'acme.net' }),
  auto_join: toggle({ label: t.join }),
}

export function Domains() {
  const canManage = useGrant('team.manage')
  const answer = useAnswer(
    listDomainsRoute,
    { params: team, query: { limit: 1000 } },
    { refetchInterval: 15_000 },
  )
  return (
    <Stack>
      {canManage && (
        <Group>
          <AddDomain />
        </Group>
      )}
      {answer.error && !answer.data && <Problem error={answer.error} retry={answer.refetch} />}
      {answer.isPending && <Skeleton height={120} />}
      {answer.data?.count === 0 && <Empty title={t.noneTitle}>{t.noneText}</Empty>}
      {answer.data && answer.data.count > 0 && (
        <ul className={classes['rows']}>
          {answer.data.results.map((domain) => (
            <DomainRow key={domain.id} domain={domain} canManage={canManage} />
          ))}
        </ul>
      )}
    </Stack>
  )
}

const AddDomain = () => (
  <Dialog
    title={t.add}
    action={t.add}
    route={addDomainRoute}
    declared={declared}
    initialValues={{ domain: '', auto_join: false }}
    trigger={(open) => (
      <Button leftSection={<IconPlus size={14} />} onClick={open}>
        {t.add}
      </Button>
    )}
    onSubmit={async ({ domain, auto_join }) => {
      await call(addDomainRoute, { params: team, body: { domain: domain.trim(), auto_join } })
      await invalidate(listDomainsRoute)
    }}
  />
)

function DomainRow({ domain: one, canManage }: { domain: Domain; canManage: boolean }) {
  const { id, domain, verified, last_check, last_check_result, auto_join } = one
  const params = { ...team, domain_id: id }
  const check = useMutation({
    mutationFn: () => call(verifyDomainRoute, { params }),
    onSettled: () => invalidate(listDomainsRoute),
    onError: notifyProblem,
  })
  const join = useMutation({
    mutationFn: () => call(updateDomainRoute, { params, body: { auto_join: !auto_join } }),
    onSuccess: () => invalidate(listDomainsRoute),
    onError: notifyProblem,
  })
  return (
    <li>
      <div className={classes['rowHead']}>
        <h2 className={classes['rowName']}>{domain}</h2>
        <StatePill color={verified ? 'ok' : 'warn'}>{verified ? t.verified : t.notVerified}</StatePill>
        {canManage && (
          <div className={classes['rowActions']}>
            <Button
              variant="default"
              aria-label={t.checkOf(domain)}
              loading={check.isPending}
              onClick={() => check.mutate()}
            >
              {t.check}
            </Button>
            <RemoveDomain domain={one} />
          </div>
        )}
      </div>
      <p className={classes['who']}>{verified ? t.verifiedText : t.next[last_check_result ?? 'missing']}</p>
      {!verified && <Record domain={one} />}
      <div className={classes['rowFoot']}>
        <Switch
          size="xs"
          label={t.joinOf(domain)}
          checked={auto_join}
          disabled={!canManage || join.isPending}
          onChange={() => join.mutate()}
        />
        <Text size="xs" c="dimmed">
          {t.lastChecked} <Time at={last_check} none={t.never} />
        </Text>
      </div>
    </li>
  )
}

const RemoveDomain = ({ domain: { id, domain } }: { domain: Domain }) => (
  <Dialog
    title={t.removeTitle(domain)}
    action={t.remove}
    danger
    trigger={(open) => (
      <Button variant="default" aria-label={t.removeOf(domain)} onClick={open}>
        {t.remove}
      </Button>
    )}
    onSubmit={async () => {
      await call(removeDomainRoute, { params: { ...team, domain_id: id } })
      await invalidate(listDomainsRoute)
    }}
  >
    <Text size="sm">{t.removeText}</Text>
  </Dialog>
)

const Record = ({ domain: { record_name, record_value } }: { domain: Domain }) => (
  <dl className={classes['record']}>
    {(
      [
        [t.recordName, record_name, t.copyName],
        [t.recordValue, record_value, t.copyValue],
      ] as const
    ).map(([label, text, copy]) => (
      <Fragment key={label}>
        <dt>{label}</dt>
        <dd>
          {text}
          <CopyIcon text={text} label={copy} />
        </dd>
      </Fragment>
    ))}
  </dl>
)
