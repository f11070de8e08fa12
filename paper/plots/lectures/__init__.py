"""The drawings of the lecture notebooks: each shows the state that its sliders choose."""
