/** By the text or the code of a failed connection; the first that fits counts. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /HTTP request to an HTTPS server/,
    'it speaks nothing but TLS at that port, and DOCKER_TLS_VERIFY is not set',
  ],
  [/ERR_TLS_CERT_ALTNAME_INVALID/, 'its certificate is for another name'],
  [/CERT_HAS_EXPIRED/, 'its certificate has expired'],
  [/CERT_NOT_YET_VALID/, 'its certificate is not valid yet (see the clock of this machine)'],
  [
    /UNABLE_TO_(VERIFY|GET)|SELF_SIGNED|DEPTH_ZERO|CERT_UNTRUSTED|CERT_SIGNATURE/,
    'its certificate is not from the authority in ca.pem',
  ],
  [/key values mismatch/i, 'key.pem does not belong to cert.pem'],
  [/bad decrypt|interrupted or cancelled|bad password/i, 'key.pem is locked with a password'],
  [
    /no start line|bad PEM|PEM routines|asn1|unsupported/i,
    'cert.pem or key.pem is not a certificate or key in PEM',
  ],
  [
    /alert/i,
    'it does not accept this client’s certificate (cert.pem is missing, expired, or not from its authority)',
  ],
  [
    /wrong version number|packet length|EPROTO|HPE_INVALID|record layer/i,
    'it does not speak TLS at that port',
  ],
];

/** Why a connection with TLS failed, for people; undefined where the failure has nothing to do with it. */
export function tlsReason(code: string, message: string): string | undefined {
  const isTls =
    /^(ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|EPROTO|HPE_INVALID)/.test(
      code,
    ) || /HTTP request to an HTTPS server|certificate|bad PEM|PEM routines/i.test(message);
  if (!isTls) return undefined;
  const known = REASONS.find(([pattern]) => pattern.test(`${code} ${message}`));
  return known?.[1] ?? message;
}
