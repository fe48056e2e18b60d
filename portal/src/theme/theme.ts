// The theme of the component library, mapped to the tokens of tokens.css: dense, the same in light and dark. Colors are named by
// state, never by hue.
import { setNonce } from 'get-nonce'
import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core'

/** The colors that components take. `accent` marks links, the primary action and selected elements; the others are states. */
export const themeColors = ['accent', 'ok', 'warn', 'bad', 'info', 'idle'] as const

export type ThemeColor = (typeof themeColors)[number]

/** A color that is the same in every shade; the variables below give each use its own token. */
const tokenColor = (name: ThemeColor): MantineColorsTuple =>
  Array.from({ length: 10 }, () => `var(--${name}-fill)`) as unknown as MantineColorsTuple

/** Light to dark; the component library uses it where the theme has no token. */
const gray: MantineColorsTuple = [
  '#f6f7f9',
  '#f0f2f5',
  '#e2e6ec',
  '#e2e6ec',
  '#c9d0da',
  '#98a2b0',
  '#667284',
  '#475364',
  '#2a3542',
  '#101820',
]
/** Text to ground of the dark theme. */
const dark: MantineColorsTuple = [
  '#e7ecf2',
  '#c5ced8',
  '#a9b5c2',
  '#8592a1',
  '#364350',
  '#232d38',
  '#182028',
  '#121920',
  '#0b1016',
  '#070b10',
]

export const theme = createTheme({
  colors: { ...Object.fromEntries(themeColors.map((name) => [name, tokenColor(name)])), gray, dark },
  primaryColor: 'accent',
  respectReducedMotion: true,
  cursorType: 'pointer',
  defaultRadius: 'md',
  radius: { xs: '4px', sm: '7px', md: '7px', lg: '10px', xl: '999px' },
  fontFamily: 'var(--font-sans)',
  fontFamilyMonospace: 'var(--font-mono)',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  lineHeights: { xs: '1.334', sm: '1.54', md: '1.43', lg: '1.5', xl: '1.4' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.25rem', lineHeight: '1.75rem' },
      h2: { fontSize: '0.875rem', lineHeight: '1.25rem' },
      h3: { fontSize: '0.8125rem', lineHeight: '1.25rem' },
    },
  },
  // By name, not by import: the first view does not load components that it does not show.
  components: {
    Table: {
      defaultProps: { verticalSpacing: 7, horizontalSpacing: 'sm', fz: 'sm', highlightOnHover: true },
    },
    // What scrolls must be reachable by keyboard (WCAG 2.1.1).
    TableScrollContainer: { defaultProps: { scrollAreaProps: { viewportProps: { tabIndex: 0 } } } },
    TextInput: { defaultProps: { size: 'sm' } },
    // A field that gets the focus because of its mistake shows the mistake, not its options above it: a click or a key opens them.
    ...Object.fromEntries(
      ['Autocomplete', 'Select', 'MultiSelect', 'TagsInput'].map((name) => [
        name,
        { defaultProps: { openOnFocus: false } },
      ]),
    ),
    // Targets have at least 24 px (WCAG 2.2, 2.5.8), however small they look.
    Button: {
      defaultProps: { size: 'sm' },
      styles: { label: { fontWeight: 500 } },
      vars: (_theme: unknown, { size }: { size?: string }) => ({
        root: {
          '--button-height': buttonHeights[size ?? 'sm'] ?? '32px',
          '--button-padding-x': size?.startsWith('compact') ? '8px' : '12px',
          '--button-fz': '0.8125rem',
        },
      }),
    },
    Input: { vars: (_theme: unknown, { size }: { size?: string }) => inputVars(size) },
    // In the dark theme the default background would be that of cards.
    Code: { styles: { root: { backgroundColor: 'var(--sunken)', fontSize: '0.78125rem' } } },
    Card: { defaultProps: { withBorder: true, padding: 'md', radius: 'lg' } },
    Paper: { defaultProps: { radius: 'lg' } },
    Alert: { defaultProps: { radius: 'lg' } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 300, radius: 'md' } },
    // The placeholder is a child that a menu may not have.
    Menu: { defaultProps: { radius: 'md', shadow: 'md', withInitialFocusPlaceholder: false } },
    // A button without text needs a name.
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' }, radius: 'lg', shadow: 'md' } },
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    // Its element is a header, which would be a second banner of the page.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
    Notification: {
      defaultProps: { closeButtonProps: { 'aria-label': 'Close this message' }, radius: 'lg' },
    },
    ActionIcon: {
      defaultProps: { variant: 'subtle', color: 'gray' },
      vars: (_theme: unknown, { size }: { size?: string }) =>
        size === 'sm' ? { root: { '--ai-size': '24px' } } : { root: { '--ai-size': '28px' } },
    },
  },
})

const buttonHeights: Readonly<Record<string, string>> = {
  'compact-xs': '24px',
  'compact-sm': '26px',
  xs: '28px',
  sm: '32px',
  md: '36px',
}

const inputVars = (size = 'sm') =>
  size === 'xs' || size === 'sm'
    ? { wrapper: { '--input-height': size === 'xs' ? '28px' : '32px', '--input-fz': '0.8125rem' } }
    : {}

/** The library's variables of one color, in terms of the tokens. */
const colorVariables = (name: ThemeColor): Record<string, string> => {
  const prefix = `--mantine-color-${name}`
  const hover =
    name === 'accent' ? 'var(--accent-hover)' : `color-mix(in srgb, var(--${name}-fill), black 12%)`
  return {
    [`${prefix}-text`]: `var(--${name})`,
    [`${prefix}-filled`]: `var(--${name}-fill)`,
    [`${prefix}-filled-hover`]: hover,
    [`${prefix}-light`]: `var(--${name}-weak)`,
    // Any darker, and the text of a button under the pointer is too faint.
    [`${prefix}-light-hover`]: `var(--${name}-weak)`,
    [`${prefix}-light-color`]: `var(--${name})`,
    [`${prefix}-outline`]: `var(--${name})`,
    [`${prefix}-outline-hover`]: `var(--${name}-weak)`,
  }
}

const variables: Record<string, string> = {
  ...Object.assign({}, ...themeColors.map(colorVariables)),
  '--mantine-color-body': 'var(--surface)',
  '--mantine-color-text': 'var(--text)',
  '--mantine-color-dimmed': 'var(--text-2)',
  '--mantine-color-placeholder': 'var(--text-3)',
  '--mantine-color-anchor': 'var(--accent)',
  '--mantine-color-error': 'var(--bad)',
  '--mantine-color-default': 'var(--surface)',
  '--mantine-color-default-hover': 'var(--sunken)',
  '--mantine-color-default-color': 'var(--text)',
  '--mantine-color-default-border': 'var(--line-strong)',
  '--mantine-color-disabled': 'var(--sunken)',
  '--mantine-color-disabled-color': 'var(--text-3)',
  '--mantine-color-disabled-border': 'var(--line)',
  '--mantine-shadow-xs': 'none',
  '--mantine-shadow-sm': 'none',
  '--mantine-shadow-md': 'var(--shadow-float)',
  '--mantine-shadow-lg': 'var(--shadow-float)',
  '--mantine-shadow-xl': 'var(--shadow-float)',
}

export const cssVariables: CSSVariablesResolver = () => ({ variables: {}, light: variables, dark: variables })

/** Returns the nonce that the server writes into the page, for the styles that Mantine adds. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
}

// Another library adds the style that stops the page behind a dialog from scrolling.
setNonce(styleNonce())
