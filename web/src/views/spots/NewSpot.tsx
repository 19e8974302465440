export default function NewSpot() {
  return <p class="empty">NewSpot</p>;
}
