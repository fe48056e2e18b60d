// The second factor: set up with a QR code, turned off, its recovery codes made anew.
import {
  Alert,
  Badge,
  Button,
  Code,
  Group,
  Modal,
  Skeleton,
  Stack,
  Stepper,
  Text,
  TextInput,
} from '@mantine/core'
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
import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { encode } from 'uqr'
import { call } from '../api/call.ts'
import { forget, useAnswer } from '../api/queries.ts'
import { session } from '../api/session.ts'
import { CopyBlock, CopyIcon } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { download } from '../ui/download.ts'
import { fieldError, Problem, tell } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { CurrentPassword } from './current-password.tsx'
import { Section } from './section.tsx'

/** From here on new ones are worth a word. */
const fewCodes = 3

export function SecondFactorCard() {
  const answer = useAnswer(getSecondFactorRoute, {})
  return (
    <Section title="Second factor">
      {answer.error && <Problem error={answer.error} />}
      {answer.isPending && <Skeleton height={40} />}
      {answer.data?.enabled === null && (
        <Stack gap="xs">
          <Text size="sm">
            Signing in takes the password alone. With an authenticator, whoever learns it cannot sign in.
            Setting one up signs out all your other sessions.
          </Text>
          <Group>
            <SetUp />
          </Group>
        </Stack>
      )}
      {answer.data && answer.data.enabled !== null && (
        <Stack gap="xs">
          <Group gap="xs">
            <Badge color="teal">on</Badge>
            <Text size="sm">
              since <Time at={answer.data.enabled} />; {answer.data.recovery_codes_left} recovery codes left
            </Text>
          </Group>
          {answer.data.recovery_codes_left <= fewCodes && (
            <Alert color="yellow">
              Make new recovery codes: without one, a lost authenticator locks you out, and only the provider
              lets you in again.
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
  const [password, setPassword] = useState('')
  const [otp, setOtp] = useState('')
  const start = useMutation({
    mutationFn: async () => (await call(createTotpRoute, { body: { current_password: password } })).body,
  })
  const confirm = useMutation({ mutationFn: () => session.replace(confirmTotpRoute, { otp }) })
  const step = confirm.data ? 2 : start.data ? 1 : 0
  const error = step === 0 ? start.error : confirm.error
  function shut() {
    close()
    if (confirm.data) void forget(getSecondFactorRoute)
    setPassword('')
    setOtp('')
    start.reset()
    confirm.reset()
  }
  function submit(event: FormEvent) {
    event.preventDefault()
    if (step === 0) start.mutate()
    else confirm.mutate()
  }
  return (
    <>
      <Button onClick={open}>Set up</Button>
      <Modal opened={opened} onClose={shut} title="Set up a second factor" size="lg">
        <form onSubmit={submit}>
          <Stack>
            <Stepper active={step} size="xs">
              <Stepper.Step label="Password" />
              <Stepper.Step label="Authenticator" />
              <Stepper.Step label="Recovery codes" />
            </Stepper>
            {step === 0 && <CurrentPassword first value={password} onChange={setPassword} />}
            {step === 1 && <Scan enrolment={start.data!} otp={otp} setOtp={setOtp} error={error} />}
            {step === 2 && <Codes codes={confirm.data!.recovery_codes} />}
            {error && <Problem error={error} />}
            <Group justify="flex-end">
              {step === 2 ? (
                <Button onClick={shut}>I have kept them</Button>
              ) : (
                <Button type="submit" loading={start.isPending || confirm.isPending}>
                  {step === 0 ? 'Go on' : 'Turn it on'}
                </Button>
              )}
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  )
}

type ScanProps = { enrolment: TotpEnrolment; otp: string; setOtp: (otp: string) => void; error: unknown }

function Scan({ enrolment: { uri, secret }, otp, setOtp, error }: ScanProps) {
  return (
    <>
      <Text size="sm">Scan this with your authenticator, or type the secret in:</Text>
      <QrCode text={uri} />
      <Group gap="xs">
        <Code>{secret}</Code>
        <CopyIcon text={secret} label="Copy the secret" />
      </Group>
      <TextInput
        label="The code that it shows"
        inputMode="numeric"
        autoComplete="one-time-code"
        pattern="[0-9]{6}"
        required
        data-autofocus
        value={otp}
        error={fieldError(error, 'otp')}
        onChange={(event) => setOtp(event.currentTarget.value.trim())}
      />
    </>
  )
}

/** It says where the codes belong, for whoever finds it in a year. */
const fileOf = (codes: readonly string[]): string =>
  [
    `Recovery codes for ${location.host}, made on ${new Date().toISOString().slice(0, 10)}.`,
    'Each works once, in the place of a code of the authenticator.',
    '',
    ...codes,
    '',
  ].join('\n')

function Codes({ codes }: { codes: readonly string[] }) {
  return (
    <Stack>
      <Alert color="yellow">
        Keep these where you keep your passwords. Each works once, in the place of a code, when the
        authenticator is lost. They are not shown again.
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

/** ISO/IEC 18004, drawn as one path; white around it, in the dark theme too, since scanners want it so. */
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

function ProofFields({
  proof,
  setProof,
  error,
}: {
  proof: Proof
  setProof: (proof: Proof) => void
  error: unknown
}) {
  return (
    <>
      <CurrentPassword
        first
        value={proof.current_password}
        onChange={(current_password) => setProof({ ...proof, current_password })}
      />
      <TextInput
        label="A code, or a recovery code"
        autoComplete="one-time-code"
        required
        value={proof.otp}
        error={fieldError(error, 'otp')}
        onChange={(event) => setProof({ ...proof, otp: event.currentTarget.value.trim() })}
      />
    </>
  )
}

const noProof: Proof = { current_password: '', otp: '' }

function TurnOff() {
  const [proof, setProof] = useState(noProof)
  return (
    <Dialog
      title="Turn the second factor off"
      action="Turn it off"
      danger
      trigger={(open) => (
        <Button variant="default" onClick={open}>
          Turn off
        </Button>
      )}
      onClose={() => setProof(noProof)}
      onSubmit={async () => {
        await session.replace(deleteTotpRoute, proof)
        await forget(getSecondFactorRoute)
        tell('The second factor is disabled. All other sessions were signed out.')
      }}
    >
      {(error) => (
        <>
          <Text size="sm">
            Teams that require a second factor will be closed to you until you have one again.
          </Text>
          <ProofFields proof={proof} setProof={setProof} error={error} />
        </>
      )}
    </Dialog>
  )
}

function NewCodes() {
  const [proof, setProof] = useState(noProof)
  const [codes, setCodes] = useState<readonly string[]>()
  return (
    <Dialog
      title="New recovery codes"
      action="Make new ones"
      stays
      trigger={(open) => (
        <Button variant="default" onClick={open}>
          New recovery codes
        </Button>
      )}
      onClose={() => {
        setProof(noProof)
        setCodes(undefined)
        void forget(getSecondFactorRoute)
      }}
      onSubmit={async () => setCodes((await session.replace(createRecoveryCodesRoute, proof)).recovery_codes)}
    >
      {(error) =>
        codes ? <Codes codes={codes} /> : <ProofFields proof={proof} setProof={setProof} error={error} />
      }
    </Dialog>
  )
}
