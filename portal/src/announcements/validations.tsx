// The checks of an announcement, with state and reason. Those that have not passed come first, with the exact object to
// create, or a link to the page that fixes it.
import { Card, Group, Stack, Text, Title } from '@mantine/core'
import type { AuthorizationProof, Validation } from '@pharos/contract/announcement-checks'
import type { Announcement } from '@pharos/contract/byoip'
import { CopyBlock } from '../ui/copy.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { ValidationBadge } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { checkName } from './history-text.ts'

/** `isPreflight`: the announcement is not stored yet, and has no page. */
type Props = { announcement: Announcement; isPreflight?: boolean }

export function Validations({ announcement, isPreflight = false }: Props) {
  const { validations = [] } = announcement
  const passed = validations.filter(({ state }) => state === 'valid')
  return (
    <Stack gap="sm">
      {validations
        .filter(({ state }) => state !== 'valid')
        .map((validation) => (
          <Check
            key={validation.name}
            validation={validation}
            announcement={announcement}
            isPreflight={isPreflight}
          />
        ))}
      {passed.length > 0 && (
        <Card component="section" aria-label="Passed">
          <Stack gap="xs">
            {passed.map(({ name, state, note, checked }) => (
              <Group key={name} justify="space-between" gap="xs">
                <Group gap="xs">
                  <Text fw={600} size="sm">
                    {checkName(name)}
                  </Text>
                  <ValidationBadge state={state} />
                  <Text size="sm">{note}</Text>
                </Group>
                <Checked at={checked} />
              </Group>
            ))}
          </Stack>
        </Card>
      )}
    </Stack>
  )
}

const Checked = ({ at }: { at: string | null }) => (
  <Text size="xs" c="dimmed">
    {at === null ? (
      'Never checked'
    ) : (
      <>
        Checked <Time at={at} />
      </>
    )}
  </Text>
)

type CheckProps = { validation: Validation; announcement: Announcement; isPreflight: boolean }

function Check({ validation, announcement, isPreflight }: CheckProps) {
  const { name, state, note, checked } = validation
  return (
    <Card component="section" aria-label={checkName(name)}>
      <Group justify="space-between">
        <Group gap="xs">
          <Title order={2} size="sm">
            {checkName(name)}
          </Title>
          <ValidationBadge state={state} />
        </Group>
        <Checked at={checked} />
      </Group>
      <Text size="sm" mt={4}>
        {note}
      </Text>
      <Fix validation={validation} announcement={announcement} isPreflight={isPreflight} />
    </Card>
  )
}

/** If the API's fix is a call, links to the page that makes it. */
function Fix({
  validation: { name, fix, proofs },
  announcement: { id, cidr, origin_asn },
  isPreflight,
}: CheckProps) {
  if (fix === null) return null
  if (name === 'asn')
    return (
      <Group mt="xs">
        <ButtonLink to="/asns/$asn" params={{ asn: String(origin_asn) }} search={{ cidr }}>
          Verify AS{origin_asn}
        </ButtonLink>
      </Group>
    )
  if (name === 'loa')
    return (
      <>
        {(proofs?.some(({ kind }) => kind === 'letter') ?? true) && (
          <LetterFix id={id} isPreflight={isPreflight} />
        )}
        {proofs?.map((proof) => (
          <ProofFix key={proof.kind} proof={proof} />
        ))}
      </>
    )
  return (
    <Stack gap={4} mt="xs">
      <Text size="xs" c="dimmed">
        Create this object:
      </Text>
      <CopyBlock text={fix} label="Copy" />
    </Stack>
  )
}

function LetterFix({ id, isPreflight }: { id: number; isPreflight: boolean }) {
  if (isPreflight)
    return (
      <Text size="sm" mt={4}>
        After adding the prefix you can download a draft letter and upload the signed copy.
      </Text>
    )
  return (
    <Group mt="xs">
      <ButtonLink to="/announcements/$id" params={{ id: String(id) }} search={{ tab: 'letters' }}>
        Upload letter
      </ButtonLink>
    </Group>
  )
}

/** Kinds that the team can create; the letter has a tab, and the ROA is a separate check. */
const proofTitles: Partial<Record<AuthorizationProof['kind'], string>> = {
  dns_txt: 'Or create this record in the reverse zone:',
  rdap: 'Or add this line to the registration at the address registry:',
}

function ProofFix({ proof: { kind, note, fix } }: { proof: AuthorizationProof }) {
  const title = proofTitles[kind]
  if (title === undefined || fix === null) return null
  return (
    <Stack gap={4} mt="xs">
      <Text size="sm">{title}</Text>
      <CopyBlock text={fix} label="Copy" />
      <Text size="xs" c="dimmed">
        {note}
      </Text>
    </Stack>
  )
}
