// The frame of guest pages: sign-in, and the targets of e-mailed links. It shows the provider's name.
import { Alert, Anchor, Card, Stack, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { brand } from '../ui/brand.ts'
import { Logo } from '../ui/logo.tsx'
import classes from './guest.module.css'
import { words } from './words.ts'

type GuestPageProps = {
  readonly title: string
  /** Of the provider; another one while it has no name. */
  readonly name?: string
  readonly children: ReactNode
}

export function GuestPage({ title, name = brand.name, children }: GuestPageProps) {
  useDocumentTitle(`${title} · ${name}`)
  return (
    <main className={classes['page']}>
      <div className={classes['brand']}>
        <Logo size={32} />
        {name}
      </div>
      <Card className={classes['card']!} padding="lg">
        <Stack>
          <Title order={1}>{title}</Title>
          {children}
        </Stack>
      </Card>
      {brand.support !== '' && (
        <Anchor size="xs" c="dimmed" href={brand.support}>
          {words.support}
        </Anchor>
      )}
    </main>
  )
}

/** The token of an e-mailed link. It is in the fragment so that no log contains it, and is removed from the address bar immediately. */
const token = location.hash.slice(1)
if (
  /^\/(confirm-email|reset-password|invitation|link-account|setup)$/.test(location.pathname) &&
  token !== ''
)
  history.replaceState(history.state, '', location.pathname)

export const tokenOfLink = (): string => token

export const IncompleteLink = () => <Alert color="warn">{words.incompleteLink}</Alert>
