// Each check with its state and its reason; what has not passed comes first, with the literal text of what to create or
// the way to where it is mended.
import { Button, Card, Group, Stack, Text } from '@mantine/core'
import type { AuthorizationProof, Validation } from '@pharos/contract/announcement-checks'
import type { Announcement } from '@pharos/contract/byoip'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { CopyBlock } from '../ui/copy.tsx'
import { ValidationBadge } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { checkName } from './history-words.ts'

/** `isPreflight`: nothing is stored yet, so that it has no page of its own. */
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
      'never answered'
    ) : (
      <>
        checked <Time at={at} />
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
          <Text fw={600} size="sm">
            {checkName(name)}
          </Text>
          <ValidationBadge state={state} />
        </Group>
        <Checked at={checked} />
      </Group>
      <Text size="sm" mt={4}>
        {note}
      </Text>
      <ToDo validation={validation} announcement={announcement} isPreflight={isPreflight} />
    </Card>
  )
}

/** Where the API names a call, a person is led to the page that makes it. */
function ToDo({
  validation: { name, fix, proofs },
  announcement: { id, cidr, origin_asn },
  isPreflight,
}: CheckProps) {
  if (fix === null) return null
  if (name === 'asn')
    return (
      <Way
        to={
          <Button
            component={Link}
            to="/asns/$asn"
            params={{ asn: String(origin_asn) } as never}
            search={{ cidr } as never}
          >
            Prove AS{origin_asn}
          </Button>
        }
      />
    )
  if (name === 'loa')
    return (
      <>
        {(proofs?.some(({ kind }) => kind === 'letter') ?? true) && (
          <LetterToDo id={id} isPreflight={isPreflight} />
        )}
        {proofs?.map((proof) => (
          <ProofToDo key={proof.kind} proof={proof} />
        ))}
      </>
    )
  return (
    <Stack gap={4} mt="xs">
      <Text size="xs" c="dimmed">
        To do, literally:
      </Text>
      <CopyBlock text={fix} label="Copy what to create" />
    </Stack>
  )
}

function LetterToDo({ id, isPreflight }: { id: number; isPreflight: boolean }) {
  if (isPreflight)
    return (
      <Text size="sm" mt={4}>
        Once it is brought, its page has a letter to sign, and takes the signed one.
      </Text>
    )
  return (
    <Way
      to={
        <Button
          component={Link}
          to="/announcements/$id"
          params={{ id: String(id) } as never}
          search={{ tab: 'letters' } as never}
        >
          Draft, sign and send the letter
        </Button>
      }
    />
  )
}

/** Kinds that the team creates by itself; the letter has a page, and the ROA is a check of its own. */
const proofTitles: Partial<Record<AuthorizationProof['kind'], string>> = {
  dns_txt: 'Or create this record in the reverse zone:',
  rdap: 'Or add this line to the registration at the address registry:',
}

function ProofToDo({ proof: { kind, note, fix } }: { proof: AuthorizationProof }) {
  const title = proofTitles[kind]
  if (title === undefined || fix === null) return null
  return (
    <Stack gap={4} mt="xs">
      <Text size="sm">{title}</Text>
      <CopyBlock text={fix} label="Copy what to create" />
      <Text size="xs" c="dimmed">
        {note}
      </Text>
    </Stack>
  )
}

const Way = ({ to }: { to: ReactNode }) => <Group mt="xs">{to}</Group>
