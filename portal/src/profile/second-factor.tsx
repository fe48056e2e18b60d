// Two-factor authentication: set up with a QR code, turned off, its recovery codes generated again.
import { Alert, Button, Code, Group, Modal, Skeleton, Stack, Stepper, Text } from '@mantine/core'
import {
  confirmTotpRoute,
  createRecoveryCodesRoute,
  createTotpRoute,
  deleteTotpRoute,
  getSecondFactorRoute,
  type TotpEnrolment,
} from '@pharos/contract/second-factor'
import { useDisclosure } from '@mantine/hooks'
import { IconDownload } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { encode } from 'uqr'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { session } from '../api/session.ts'
import { CopyBlock, CopyIcon } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { download } from '../ui/export-file.ts'
import { text, password } from '../ui/form-text-widgets.tsx'
import { Field, useRequestForm } from '../ui/form.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { SubmitButton } from '../ui/submit-button.tsx'
import { Time } from '../ui/time.tsx'
import { words } from './words.ts'
import { StatePill } from '../ui/status.tsx'

const startFields = {
  current_password: password({ label: words.currentPassword, autoComplete: 'current-password' }),
}
const codeFields = {
  otp: text({
    label: words.sixDigits,
    autoComplete: 'one-time-code',
    inputMode: 'numeric',
    required: true,
    check: (value: string) => (/^\s*[0-9]{6}\s*$/.test(value) ? undefined : words.needsSixDigits),
  }),
}
const proofFields = {
  ...startFields,
  otp: text({ label: words.code, autoComplete: 'one-time-code' }),
}

/** From this many codes on, new ones are recommended. */
const fewCodes = 3

export function SecondFactorCard() {
  const answer = useAnswer(getSecondFactorRoute, {})
  return (
    <Section title="Two-factor authentication">
      {answer.error && !answer.data && <Problem error={answer.error} retry={answer.refetch} />}
      {answer.isPending && <Skeleton height={40} />}
      {answer.data?.enabled === null && (
        <Stack gap="xs">
          <Text size="sm">
            Your account is protected by a password only. Add an authenticator app so that a stolen password
            is not enough. Setting it up signs you out everywhere else.
          </Text>
          <Group>
            <SetUp />
          </Group>
        </Stack>
      )}
      {answer.data && answer.data.enabled !== null && (
        <Stack gap="xs">
          <Group gap="xs">
            <StatePill color="ok">On</StatePill>
            <Text size="sm">
              Since <Time at={answer.data.enabled} /> · {answer.data.recovery_codes_left} recovery codes left
            </Text>
          </Group>
          {answer.data.recovery_codes_left <= fewCodes && (
            <Alert color="warn">
              Generate new recovery codes. Without them, losing your authenticator locks you out until the
              provider helps.
            </Alert>
          )}
          <Group>
            <NewCodes />
            <TurnOff />
          </Group>
        </Stack>
      )}
    </Section>
  )
}

/** Three steps of one dialog: the password, the first code, the recovery codes. */
function SetUp() {
  const [opened, { open, close }] = useDisclosure(false)
  const start = useRequestForm({
    initialValues: { current_password: '' },
    route: createTotpRoute,
    declared: startFields,
    request: async (body) => (await call(createTotpRoute, { body })).body,
  })
  const confirm = useRequestForm({
    initialValues: { otp: '' },
    declared: codeFields,
    request: ({ otp }) => session.replace(confirmTotpRoute, { otp: otp.trim() }),
  })
  const step = confirm.result ? 2 : start.result ? 1 : 0
  const form = step === 0 ? start : confirm
  function shut() {
    close()
    if (confirm.result) void invalidate(getSecondFactorRoute)
    start.restart({ current_password: '' })
    confirm.restart({ otp: '' })
  }
  return (
    <>
      <Button onClick={open}>Set up</Button>
      <Modal opened={opened} onClose={shut} title="Set up two-factor authentication" size="lg">
        <form onSubmit={form.submit} noValidate>
          <Stack>
            <Stepper active={step} size="xs">
              <Stepper.Step label="Password" />
              <Stepper.Step label="Authenticator" />
              <Stepper.Step label="Recovery codes" />
            </Stepper>
            {step === 0 && <Field form={start} name="current_password" autoFocus />}
            {step === 1 && (
              <Scan enrolment={start.result!}>
                <Field form={confirm} name="otp" autoFocus />
              </Scan>
            )}
            {step === 2 && <Codes codes={confirm.result!.recovery_codes} />}
            {form.problem !== undefined && <Problem error={form.problem} />}
            <Group justify="flex-end">
              {step === 2 ? (
                <Button onClick={shut}>I have saved these codes</Button>
              ) : (
                <SubmitButton form={form}>{step === 0 ? 'Continue' : 'Turn on'}</SubmitButton>
              )}
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  )
}

type ScanProps = { readonly enrolment: TotpEnrolment; readonly children: ReactNode }

function Scan({ enrolment: { uri, secret }, children }: ScanProps) {
  return (
    <>
      <Text size="sm">Scan this code with your authenticator app, or enter the key:</Text>
      <QrCode text={uri} />
      <Group gap="xs">
        <Code>{secret}</Code>
        <CopyIcon text={secret} label="Copy key" />
      </Group>
      {children}
    </>
  )
}

/** The file contains host and date, so that it can be identified later. */
const fileOf = (codes: readonly string[]): string =>
  [
    `Recovery codes for ${location.host}, generated on ${new Date().toISOString().slice(0, 10)}.`,
    'Each works once, in place of a code of the authenticator.',
    '',
    ...codes,
    '',
  ].join('\n')

function Codes({ codes }: { codes: readonly string[] }) {
  return (
    <Stack>
      <Alert color="warn">
        Store these in your password manager. Each works once if you lose your authenticator. They will not be
        shown again.
      </Alert>
      <CopyBlock text={codes.join('\n')} label="Copy all" />
      <Group>
        <Button
          variant="default"
          leftSection={<IconDownload size={14} />}
          onClick={() => download('recovery-codes.txt', new Blob([fileOf(codes)], { type: 'text/plain' }))}
        >
          Download
        </Button>
      </Group>
    </Stack>
  )
}

/** ISO/IEC 18004, drawn as one path, on white in the dark theme too: scanners need the contrast. */
function QrCode({ text }: { text: string }) {
  const { data, size } = encode(text, { border: 2 })
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      width={200}
      height={200}
      role="img"
      aria-label="QR code for the authenticator"
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

type Proof = { current_password: string; otp: string }
const noProof: Proof = { current_password: '', otp: '' }
const trimmed = ({ current_password, otp }: Proof): Proof => ({ current_password, otp: otp.trim() })

const TurnOff = () => (
  <Dialog
    title="Turn off two-factor authentication"
    action="Turn off"
    danger
    route={deleteTotpRoute}
    declared={proofFields}
    intro={<Text size="sm">You lose access to teams that require it until you turn it on again.</Text>}
    initialValues={noProof}
    trigger={(open) => (
      <Button variant="default" onClick={open}>
        Turn off
      </Button>
    )}
    onSubmit={async (proof) => {
      await session.replace(deleteTotpRoute, trimmed(proof))
      await invalidate(getSecondFactorRoute)
      notifySuccess('Two-factor authentication is off. Other sessions were signed out.')
    }}
  />
)

const NewCodes = () => (
  <Dialog
    title="New recovery codes"
    action="Generate new codes"
    route={createRecoveryCodesRoute}
    declared={proofFields}
    initialValues={noProof}
    trigger={(open) => (
      <Button variant="default" onClick={open}>
        New recovery codes
      </Button>
    )}
    onClose={() => void invalidate(getSecondFactorRoute)}
    onSubmit={(proof) => session.replace(createRecoveryCodesRoute, trimmed(proof))}
    result={({ recovery_codes: codes }) => <Codes codes={codes} />}
  />
)
