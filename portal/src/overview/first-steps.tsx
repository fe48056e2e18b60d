// Replaces empty cards for a new team: the first steps, and their progress.
import { Text } from '@mantine/core'
import { listAsnsRoute } from '@pharos/contract/inventory/asn'
import { listMembersRoute } from '@pharos/contract/team/member'
import type { Grant } from '@pharos/contract/role'
import { listWebhooksRoute } from '@pharos/contract/messages/webhook'
import { useQuery } from '@tanstack/react-query'
import type { LinkOptions } from '@tanstack/react-router'
import { answerOf } from '../api/queries.ts'
import { onlyWith, useGrant, useMay } from '../api/use-grant.ts'
import { ButtonLink } from '../ui/link.tsx'
import { Section } from '../ui/section.tsx'
import { StateIcon } from '../ui/task-row.tsx'
import classes from './overview.module.css'
import { words } from './words.ts'

const { firstSteps: texts } = words

type StepState = boolean | undefined

export function FirstSteps() {
  const may = useMay()
  const asns = useQuery(answerOf(listAsnsRoute, { query: { verified: true, limit: 1 } })).data
  const members = useQuery({
    ...answerOf(listMembersRoute, { params: { team_id: 'current' }, query: { limit: 2 } }),
    enabled: may('team.manage'),
  }).data
  const webhooks = useQuery({
    ...answerOf(listWebhooksRoute, { query: { limit: 1 } }),
    enabled: may('webhooks.manage'),
  }).data
  return (
    <Section title={texts.title} flush>
      <Text size="sm" c="dimmed" className={classes['lead']!}>
        {texts.note}
      </Text>
      <ol className={classes['steps']}>
        <Step
          about={texts.asn}
          to={{ to: '/asns' }}
          done={asns && asns.count > 0}
          grant="ipam.manage"
          isNext={asns?.count === 0}
        />
        <Step
          about={texts.prefix}
          to={{ to: '/announcements/new' }}
          done={false}
          grant="ipam.manage"
          isNext={asns !== undefined && asns.count > 0}
        />
        <Step
          about={texts.invite}
          to={{ to: '/team/members' }}
          done={members && members.count > 1}
          grant="team.manage"
        />
        <Step
          about={texts.connect}
          to={{ to: '/team/webhooks' }}
          done={webhooks && webhooks.count > 0}
          grant="webhooks.manage"
        />
      </ol>
    </Section>
  )
}

type StepProps = {
  readonly about: { readonly title: string; readonly text: string; readonly action: string }
  readonly to: LinkOptions
  /** Undefined: unknown. */
  readonly done: StepState
  readonly grant: Grant
  /** The next step. */
  readonly isNext?: boolean
}

function Step({ about, to, done, grant, isNext = false }: StepProps) {
  const isAllowed = useGrant(grant)
  const stateText = done === undefined ? texts.unknown : done ? texts.done : texts.open
  return (
    <li>
      <StateIcon color={done === true ? 'ok' : isNext ? 'info' : 'idle'} text={stateText} />
      <h3>{about.title}</h3>
      <p>{about.text}</p>
      {!isAllowed ? (
        <p>{onlyWith(grant)}</p>
      ) : (
        done !== true && (
          <ButtonLink {...to} variant={isNext ? 'filled' : 'default'}>
            {about.action}
          </ButtonLink>
        )
      )}
    </li>
  )
}
