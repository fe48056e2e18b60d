// A change of DNS that waits for a decision: what would no longer be served and why it is held, and the decision.
import { Stack, Text } from '@mantine/core'
import { approveZoneHoldRoute, rejectZoneHoldRoute, type ZoneHold } from '@pharos/contract/zone-hold'
import { call } from '../api/call.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Facts } from '../ui/facts.tsx'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { CustomerLink } from './change-view.tsx'
import { DecisionButton } from './decision.tsx'
import { Effects } from './effects.tsx'
import { refreshInbox } from './inbox-rows.ts'
import { zoneHoldText } from './request-text.ts'
import { words } from './words.ts'
import classes from './staff.module.css'

const { zoneHold: t } = words

export function ZoneHoldView({ hold }: { hold: ZoneHold }) {
  const { team, zone, reason, created, removals, removal_count: count } = hold
  return (
    <Stack gap="md">
      <Section
        title={zoneHoldText(hold)}
        actions={
          <>
            {reason !== 'apex_removed' && <Decide hold={hold} kind="approve" />}
            <Decide hold={hold} kind="reject" />
          </>
        }
      >
        <Facts
          facts={[
            [
              words.change.customer,
              team === null ? words.change.noTeam : <CustomerLink key="team" team={team} />,
            ],
            [words.change.request, zone?.name],
            [words.change.why, t.reasons[reason]],
            [words.change.paused, <Time key="at" at={created} />],
          ]}
        />
        <Text size="sm" mt="xs">
          {t.meanwhile}
        </Text>
      </Section>
      <Section title={t.removed}>
        <ul className={classes['removals']} data-verbatim>
          {removals.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
        {count > removals.length && (
          <Text size="sm" c="dimmed">
            {t.more(count - removals.length)}
          </Text>
        )}
      </Section>
    </Stack>
  )
}

function Decide({ hold, kind }: { hold: ZoneHold; kind: 'approve' | 'reject' }) {
  const isApproval = kind === 'approve'
  return (
    <Dialog
      title={isApproval ? t.approveTitle : t.rejectTitle}
      action={isApproval ? words.approve : words.reject}
      danger={isApproval}
      intro={<Effects confirms texts={[`${zoneHoldText(hold)}.`, isApproval ? t.approval : t.rejection]} />}
      trigger={(open) => (
        <DecisionButton
          label={isApproval ? words.approve : words.reject}
          shortcut={isApproval ? 'a' : 'r'}
          isPrimary={isApproval}
          onClick={open}
        />
      )}
      onSubmit={async () => {
        await call(isApproval ? approveZoneHoldRoute : rejectZoneHoldRoute, { params: { hold_id: hold.id } })
        await refreshInbox()
      }}
    />
  )
}
