// An ASN of a customer that only staff can verify: the evidence, and the decision with a reason for the customer.
import { Stack, Table } from '@mantine/core'
import { revokeAsnOfTeamRoute, verifyAsnOfTeamRoute, type AsnOfTeam } from '@pharos/contract/inventory/asn'
import { ProofPill } from '../asns/proof-labels.tsx'
import { words as asnWords } from '../asns/words.ts'
import { call } from '../api/call.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Facts } from '../ui/facts.tsx'
import { Field } from '../ui/form.tsx'
import { textarea } from '../ui/form-widgets.tsx'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { CustomerLink } from './change-view.tsx'
import { decisionProps } from './decision.tsx'
import { Effects } from './effects.tsx'
import { refreshInbox } from './inbox-rows.ts'
import { words } from './words.ts'
import classes from './staff.module.css'

const { asn: t } = words

export function AsnView({ claim }: { claim: AsnOfTeam }) {
  const { asn, team, evidence } = claim
  return (
    <Stack gap="md">
      <Section
        title={t.what(asn)}
        actions={
          <>
            <Decide claim={claim} kind="approve" />
            <Decide claim={claim} kind="reject" />
          </>
        }
      >
        <Facts
          facts={[
            [words.change.customer, <CustomerLink key="team" team={team} />],
            [words.change.request, t.why],
          ]}
        />
      </Section>
      <Section title={t.evidence} flush>
        <Table.ScrollContainer minWidth={420}>
          <Table fz="sm" className={classes['table']!}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t.method}</Table.Th>
                <Table.Th>{t.result}</Table.Th>
                <Table.Th>{t.checked}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {evidence.map(({ method, state, proves, note, checked }) => (
                <Table.Tr key={method}>
                  <Table.Td>{asnWords.methods[method]}</Table.Td>
                  <Table.Td>
                    <ProofPill state={state} proves={proves} />
                    <div className={classes['small']}>{note}</div>
                  </Table.Td>
                  <Table.Td>
                    <Time at={checked} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Section>
    </Stack>
  )
}

const declared = { reason: textarea({ label: t.reason, help: t.reasonHelp }) }

function Decide({ claim: { asn, team }, kind }: { claim: AsnOfTeam; kind: 'approve' | 'reject' }) {
  const isApproval = kind === 'approve'
  const route = isApproval ? verifyAsnOfTeamRoute : revokeAsnOfTeamRoute
  return (
    <Dialog
      title={isApproval ? t.approveTitle(asn, team.name) : t.rejectTitle(asn, team.name)}
      {...decisionProps(isApproval)}
      danger={!isApproval}
      route={route}
      initialValues={{ reason: '' }}
      declared={declared}
      onSubmit={async ({ reason }) => {
        await call(route, { params: { asn }, body: { team_id: team.id, reason } })
        await refreshInbox()
      }}
    >
      {(_fields, form) => (
        <>
          <Effects texts={[isApproval ? t.approveText(asn, team.name) : t.rejectText(asn, team.name)]} />
          <Field form={form} name="reason" autoFocus />
        </>
      )}
    </Dialog>
  )
}
