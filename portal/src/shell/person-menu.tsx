// The foot of the sidebar: the signed-in person, with their profile, the theme and signing out.
import { Menu, UnstyledButton, useMantineColorScheme, VisuallyHidden } from '@mantine/core'
import type { User } from '@pharos/contract/session/session'
import { IconLogout, IconMoon, IconSun, IconUser } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { Avatar } from '../ui/avatar.tsx'
import { signOut } from './sign-out.ts'
import { words } from './words.ts'
import classes from './shell.module.css'

export function PersonMenu({ user, isNarrow }: { user: User; isNarrow: boolean }) {
  const name = user.display_name || user.email
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const isDark =
    colorScheme === 'dark' || (colorScheme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches)
  return (
    <Menu position="top-start" width={212}>
      <Menu.Target>
        <UnstyledButton
          className={classes['person']!}
          {...(isNarrow ? { 'aria-label': `${words.accountOf} ${name}` } : {})}
        >
          <Avatar name={name} />
          {!isNarrow && (
            <span className={classes['team']}>
              <VisuallyHidden>{words.accountOf} </VisuallyHidden>
              {name}
            </span>
          )}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{user.email}</Menu.Label>
        <Menu.Item component={Link} to="/profile" leftSection={<IconUser size={16} />}>
          {words.profile}
        </Menu.Item>
        <Menu.Item
          leftSection={isDark ? <IconSun size={16} /> : <IconMoon size={16} />}
          onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
        >
          {isDark ? words.lightTheme : words.darkTheme}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
          {words.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
