export default function Trainings() {
  return <p class="empty">Trainings</p>;
}
