/** Logo: an envelope with a red seal. */

export function Logo({ name = true }: { name?: boolean }) {
  return (
    <span className="pw-logo">
      <svg width="28" height="28" viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="9" fill="#17535e" />
        <path d="M7 11.5h18v11a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 7 22.5z" fill="#fbf8f1" />
        <path d="M7 11.5 16 18.5l9-7" fill="none" stroke="#17535e" strokeWidth="1.8" strokeLinejoin="round" />
        <circle cx="23.5" cy="9.5" r="4.5" fill="#e2593b" />
      </svg>
      {name ? 'Postwright' : null}
    </span>
  )
}
