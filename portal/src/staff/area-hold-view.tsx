// A change of DNS or shield rules that waits for a decision: what would happen and why it is held, and the decision.
import { Skeleton, Stack, Text } from '@mantine/core'
import {
  approveShieldHoldRoute,
  getShieldHoldRoute,
  rejectShieldHoldRoute,
  type ShieldHold,
} from '@pharos/contract/shield-hold'
import { approveZoneHoldRoute, rejectZoneHoldRoute, type ZoneHold } from '@pharos/contract/zone-hold'
import type { ReactNode } from 'react'
import { call } from '../api/call.ts'
import { useAnswer } from '../api/queries.ts'
import { Effect } from '../shield/effect.tsx'
import { contentOf } from '../shield/rule-draft.ts'
import { ruleText } from '../shield/rule-text.ts'
import { words as shieldWords } from '../shield/words.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Facts } from '../ui/facts.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { CustomerLink } from './change-view.tsx'
import { decisionProps } from './decision.tsx'
import { Effects } from './effects.tsx'
import { refreshInbox } from './inbox-rows.ts'
import { shieldHoldText, zoneHoldText } from './request-text.ts'
import { words } from './words.ts'
import classes from './staff.module.css'

export const ZoneHoldView = ({ hold }: { hold: ZoneHold }) => (
  <AreaHoldView
    hold={hold}
    texts={words.zoneHold}
    title={zoneHoldText(hold)}
    subject={hold.zone?.name}
    why={words.zoneHold.reasons[hold.reason]}
    items={hold.removals}
    count={hold.removal_count}
    mayApprove={hold.reason !== 'apex_removed'}
    decide={(isApproval) =>
      call(isApproval ? approveZoneHoldRoute : rejectZoneHoldRoute, {
        params: { hold_id: hold.id },
        query: { evidence: hold.evidence },
      })
    }
  />
)

export const ShieldHoldView = ({ hold }: { hold: ShieldHold }) => (
  <AreaHoldView
    hold={hold}
    texts={words.shieldHold}
    title={shieldHoldText(hold)}
    subject={hold.scrubber ?? words.shieldHold.allScrubbers}
    why={hold.detail}
    items={hold.prefixes}
    count={hold.prefixes.length}
    mayApprove={hold.reason !== 'plan_differs'}
    details={hold.list_id !== null && <HeldRules id={hold.id} />}
    decide={(isApproval) =>
      call(isApproval ? approveShieldHoldRoute : rejectShieldHoldRoute, { params: { hold_id: hold.id } })
    }
  />
)

/** The rules that wait, and what they would have dropped: a decision without them is a guess. */
function HeldRules({ id }: { readonly id: number }) {
  const { data, error, refetch } = useAnswer(getShieldHoldRoute, { params: { hold_id: id } })
  if (error && !data) return <Problem error={error} retry={() => refetch()} />
  if (!data) return <Skeleton height={160} aria-busy />
  return (
    <>
      <Section title={words.shieldHold.rules}>
        <ol className={classes['heldRules']}>
          {data.rules.map((rule, at) => (
            <li key={at} data-off={rule.enabled === false || undefined}>
              {ruleText(contentOf(rule))}
            </li>
          ))}
        </ol>
      </Section>
      {data.what_if && (
        <Section title={shieldWords.effect.title}>
          <Effect whatIf={data.what_if} />
        </Section>
      )}
    </>
  )
}

type AreaHoldProps = {
  readonly hold: Pick<ZoneHold, 'team' | 'created'>
  readonly texts: {
    readonly subject: string
    readonly meanwhile: string
    readonly removed: string
    readonly more: (count: number) => string
    readonly approveTitle: string
    readonly rejectTitle: string
    readonly approval: string
    readonly rejection: string
  }
  readonly title: string
  readonly subject: ReactNode
  readonly why: string
  /** Everything that would be removed; none for a hold that removes nothing. */
  readonly items: readonly string[]
  readonly count: number
  readonly mayApprove: boolean
  readonly details?: ReactNode
  readonly decide: (isApproval: boolean) => Promise<unknown>
}

function AreaHoldView(props: AreaHoldProps) {
  const { hold, texts, title, subject, why, items, count, mayApprove, details } = props
  return (
    <Stack gap="md">
      <Section
        title={title}
        actions={
          <>
            {mayApprove && <Decide {...props} isApproval />}
            <Decide {...props} isApproval={false} />
          </>
        }
      >
        <Facts
          facts={[
            [
              words.change.customer,
              hold.team === null ? words.change.noTeam : <CustomerLink key="team" team={hold.team} />,
            ],
            [texts.subject, subject],
            [words.change.why, why],
            [words.change.paused, <Time key="at" at={hold.created} />],
          ]}
        />
        <Text size="sm" mt="xs">
          {texts.meanwhile}
        </Text>
      </Section>
      {details}
      {items.length > 0 && (
        <Section title={texts.removed}>
          <ul className={classes['removals']} data-verbatim>
            {items.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
          {count > items.length && (
            <Text size="sm" c="dimmed">
              {texts.more(count - items.length)}
            </Text>
          )}
        </Section>
      )}
    </Stack>
  )
}

function Decide({ texts, title, decide, isApproval }: AreaHoldProps & { isApproval: boolean }) {
  return (
    <Dialog
      title={isApproval ? texts.approveTitle : texts.rejectTitle}
      {...decisionProps(isApproval)}
      danger={isApproval}
      intro={<Effects confirms texts={[`${title}.`, isApproval ? texts.approval : texts.rejection]} />}
      onSubmit={async () => {
        await decide(isApproval)
        await refreshInbox()
      }}
    />
  )
}
