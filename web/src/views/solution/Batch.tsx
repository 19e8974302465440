export default function Batch() {
  return <p class="empty">Batch</p>;
}
