export default function Play() {
  return <p class="empty">Play</p>;
}
