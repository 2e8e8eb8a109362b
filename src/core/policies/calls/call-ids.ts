/**
 * Ids for the calls of one attempt: the same run gives the same ids, whatever a server sends.
 * Nine letters and digits, because some chat templates accept nothing else.
 */
export function createCallIds(): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `call${String(count).padStart(5, '0')}`;
  };
}
